#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include "base/check.hpp"
#include "deliver/webhook/address_guard.hpp"

namespace knell {

/// An option that is not taken could be the one that keeps us safe.
template <typename Value>
void set_option(CURL* handle, CURLoption option, Value value) {
    CHECK(curl_easy_setopt(handle, option, value) == CURLE_OK);
}

/// A libcurl handle for one request to where a person pointed us: it connects only to addresses
/// that the rule allows, follows no redirect, uses no proxy, checks certificates, and is over in
/// time.  Libcurl holds pointers into it, so it stays where it is.  One thread.
class GuardedHandle {
  public:
    GuardedHandle(const std::string& url, AddressRule rule, std::chrono::seconds timeout);
    GuardedHandle(const GuardedHandle&) = delete;
    GuardedHandle& operator=(const GuardedHandle&) = delete;
    ~GuardedHandle() = default;

    CURL* get() const { return handle_.get(); }
    /// An empty value leaves a header out that libcurl would send by itself.
    void add_header(std::string_view name, std::string_view value);

    std::chrono::seconds timeout() const { return timeout_; }
    /// Libcurl's words for what went wrong, where it has any.
    const char* error() const { return error_.data(); }
    /// The address that it would not connect to, and why; "" when there was none.
    const std::string& refused() const { return refused_; }

  private:
    struct FreeHandle {
        void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
    };
    struct FreeList {
        void operator()(curl_slist* list) const { curl_slist_free_all(list); }
    };

    void set_bounds();
    void set_safety();
    /// Remembers why when it says no.
    bool may_connect_to(const std::optional<IpBytes>& address);

    static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
    static int on_connected(void* self, char* remote, char* local, int remote_port, int local_port);

    const AddressRule rule_;
    const std::chrono::seconds timeout_;
    std::unique_ptr<curl_slist, FreeList> headers_;
    std::string refused_;
    std::array<char, CURL_ERROR_SIZE> error_{};

    // Last, so that it goes first: it holds pointers to all of the above.
    std::unique_ptr<CURL, FreeHandle> handle_;
};

}  // namespace knell
