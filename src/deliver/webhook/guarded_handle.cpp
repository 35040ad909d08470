#include "deliver/webhook/guarded_handle.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/socket.h>

#include "core/limits.hpp"
#include "platform/version.hpp"

namespace knell {

namespace {

long milliseconds_of(std::chrono::milliseconds duration) {
    return static_cast<long>(duration.count());
}

}  // namespace

GuardedHandle::GuardedHandle(const std::string& url, AddressRule rule, std::chrono::seconds timeout)
    : rule_(rule), timeout_(timeout), handle_(curl_easy_init()) {
    CHECK(handle_);
    set_option(get(), CURLOPT_URL, url.c_str());
    set_option(get(), CURLOPT_USERAGENT, fmt::format("knell/{}", version).c_str());
    // A libcurl that was built without HTTP/2 refuses this and speaks 1.1, which will do.
    curl_easy_setopt(get(), CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set_option(get(), CURLOPT_ERRORBUFFER, error_.data());
    set_bounds();
    set_safety();
}

void GuardedHandle::add_header(std::string_view name, std::string_view value) {
    auto* const longer =
        curl_slist_append(headers_.get(), fmt::format("{}: {}", name, value).c_str());
    CHECK(longer != nullptr);
    (void)headers_.release();  // it is the head of the longer list
    headers_.reset(longer);
    set_option(get(), CURLOPT_HTTPHEADER, headers_.get());
}

/// A receiver that accepts and says nothing, or a byte now and then, costs this much and no more.
void GuardedHandle::set_bounds() {
    const auto connect_timeout = std::min(timeout_, limits::webhook_connect_timeout_max);
    set_option(get(), CURLOPT_TIMEOUT_MS, milliseconds_of(timeout_));
    set_option(get(), CURLOPT_CONNECTTIMEOUT_MS, milliseconds_of(connect_timeout));
    // Otherwise giving up on a name that does not resolve waits for the resolver all the same, and
    // every other request of the thread waits with it.
    set_option(get(), CURLOPT_QUICK_EXIT, 1L);
    set_option(get(), CURLOPT_NOSIGNAL, 1L);
}

void GuardedHandle::set_safety() {
    set_option(get(), CURLOPT_PROTOCOLS_STR, "http,https");
    set_option(get(), CURLOPT_FOLLOWLOCATION, 0L);
    // A proxy would connect for us, to where the address guard does not see.
    set_option(get(), CURLOPT_PROXY, "");
    set_option(get(), CURLOPT_NOPROXY, "*");
    set_option(get(), CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set_option(get(), CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set_option(get(), CURLOPT_SSL_VERIFYPEER, 1L);
    set_option(get(), CURLOPT_SSL_VERIFYHOST, 2L);
    set_option(get(), CURLOPT_OPENSOCKETFUNCTION, &GuardedHandle::on_open_socket);
    set_option(get(), CURLOPT_OPENSOCKETDATA, this);
    set_option(get(), CURLOPT_PREREQFUNCTION, &GuardedHandle::on_connected);
    set_option(get(), CURLOPT_PREREQDATA, this);
}

bool GuardedHandle::may_connect_to(const std::optional<IpBytes>& address) {
    const auto why_not = address ? refusal(*address, rule_) : "it is not an internet address";
    if (why_not) refused_ = *why_not;
    return !why_not;
}

/// Every connection begins here, with the very address that will be connected to.
curl_socket_t GuardedHandle::on_open_socket(void* self, curlsocktype purpose,
                                            curl_sockaddr* address) {
    auto& handle = *static_cast<GuardedHandle*>(self);
    const auto bytes = ip_bytes(&address->addr, address->addrlen);
    if (purpose != CURLSOCKTYPE_IPCXN || !handle.may_connect_to(bytes)) return CURL_SOCKET_BAD;
    // Hooks are started by this process: none may inherit a connection.
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// A connection that is used again was opened under the rule of another request.
int GuardedHandle::on_connected(void* self, char* remote, char* /*local*/, int /*remote_port*/,
                                int /*local_port*/) {
    auto& handle = *static_cast<GuardedHandle*>(self);
    return handle.may_connect_to(ip_bytes(remote)) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

}  // namespace knell
