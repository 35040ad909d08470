#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "deliver/webhook/guarded_handle.hpp"
#include "space/gateway_fetcher.hpp"

namespace knell {

/// One GET of another gateway's picture.  Libcurl holds pointers into it, so it stays where it is.
class GatewayTransfer {
  public:
    /// Reads the token and prepares the request; an error when it cannot be made at all.
    static Result<std::unique_ptr<GatewayTransfer>> prepare(const GatewayBoard::Request& request);
    GatewayTransfer(const GatewayTransfer&) = delete;
    GatewayTransfer& operator=(const GatewayTransfer&) = delete;
    ~GatewayTransfer() = default;

    /// The transfer that libcurl speaks of.
    static GatewayTransfer& of(CURL* handle);

    std::uint64_t ticket() const { return ticket_; }
    CURL* handle() const { return handle_.get(); }
    /// Once libcurl is done with it.
    Result<GatewayFetcher::Fetched> outcome(CURLcode code);

  private:
    GatewayTransfer(const GatewayBoard::Request& request, AddressRule rule);

    static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self);

    const std::uint64_t ticket_;
    std::string body_;
    bool is_too_long_ = false;

    // Last, so that it goes first: it holds pointers to all of the above.
    GuardedHandle handle_;
};

}  // namespace knell
