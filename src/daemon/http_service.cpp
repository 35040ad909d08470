#include "daemon/http_service.hpp"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "platform/log.hpp"
#include "platform/new_file.hpp"
#include "platform/port_holder.hpp"
#include "platform/token_file.hpp"

namespace knell {

namespace {

constexpr std::chrono::seconds look_period{1};

}  // namespace

std::string http_address_path(const Paths& paths) {
    return paths.state_dir + "/http.addr";
}

HttpService::HttpService(const Paths& paths, std::string listen, const ConfigHolder& config,
                         net::EventLoop& loop, rpc::Dispatcher& dispatcher,
                         net::ClientCount& clients, std::function<bool()> is_ready)
    : paths_(paths),
      listen_(std::move(listen)),
      config_(config),
      loop_(loop),
      server_(loop, dispatcher, clients, std::move(is_ready)) {}

Result<void> HttpService::start() {
    // What the config says beside the address may be what is in error: that must not keep the
    // record from being kept.  HTTP is off then.
    const bool is_known = !config_.current()->has_fallen_back("http");
    if (const auto why = why_not_listen(settings()); why && is_known && !listen_.empty()) {
        return fail(ErrorCode::unauthorized, fmt::format("--http {}: {}", listen_, *why));
    }
    // Of a daemon that was killed.
    ::unlink(http_address_path(paths_).c_str());
    look();
    loop_.every(look_period, [this] { look(); });
    return {};
}

void HttpService::stop() {
    server_.stop_listening();
    set_address("");
}

void HttpService::look() {
    const auto wanted = settings();
    refresh_rules(wanted);
    refresh_address(wanted);
}

HttpSettings HttpService::settings() const {
    auto settings = config_.current()->http;
    if (!listen_.empty()) settings.listen = listen_;
    return settings;
}

void HttpService::refresh_rules(const HttpSettings& settings) {
    // Nobody is to find tokens in a home that serves no HTTP.
    if (settings.listen == "off") return;
    const auto closed = server_.set_rules(
        {.tokens = {.full = token(TokenKind::full, said_of_token_),
                    .read_only = token(TokenKind::read_only, said_of_read_token_)},
         .hosts = settings.hosts,
         .listen_host = {},
         .allow_processes = settings.allow_processes});
    if (closed > 0) {
        log_info("HTTP connections closed: {}; their token was replaced, or allows less now",
                 closed);
    }
}

/// "" lets nobody in.
std::string HttpService::token(TokenKind kind, std::string& said) {
    auto token = read_or_make_token(token_path(paths_, kind));
    const auto problem = token ? "" : token.error().message;
    if (!problem.empty() && problem != said) log_error("{}", problem);
    said = problem;
    return token.value_or("");
}

void HttpService::refresh_address(const HttpSettings& settings) {
    const auto wanted = parse_listen_address(settings.listen);
    // The keys beside an address that was given by hand may have changed.
    const auto why_not = why_not_listen(settings);
    if (!wanted || wanted->is_off() || why_not) {
        if (bound_) {
            server_.stop_listening();
            server_.close_clients();
            log_info("no longer serves HTTP{}{}", why_not ? ": " : "", why_not.value_or(""));
        }
        bound_.reset();
        said_.clear();
        set_trouble("");
        set_address("");
        return;
    }
    if (bound_ != wanted) listen(*wanted);
}

void HttpService::listen(const ListenAddress& wanted) {
    auto listening = server_.listen(wanted.host, wanted.port);
    if (!listening) {
        auto& error = listening.error();
        if (error.message == said_) return;  // it is tried every second
        said_ = error.message;
        const auto holder =
            error.code == ErrorCode::blocked ? find_port_holder(wanted.port) : std::nullopt;
        auto trouble = fmt::format(
            "{}{}; HTTP clients are not served there until it is free. Set `listen` under "
            "`http` in config.yaml to another address, or to off",
            error.message, holder ? ", which " + *holder + " holds" : "");
        log_warn("{}", trouble);
        return set_trouble(std::move(trouble));
    }
    said_.clear();
    set_trouble("");
    bound_ = wanted;
    log_info("serves HTTP at http://{}", *listening);
    set_address(std::move(*listening));
}

void HttpService::set_address(std::string address) {
    {
        const Lock lock(mutex_);
        if (address == address_) return;
        address_ = address;
    }
    const auto path = http_address_path(paths_);
    ::unlink(path.c_str());
    if (address.empty()) return;
    if (auto written = write_new_file(path, address + "\n"); !written) {
        log_warn("{}", written.error().message);
    }
}

void HttpService::set_trouble(std::string trouble) {
    const Lock lock(mutex_);
    trouble_ = std::move(trouble);
}

std::string HttpService::trouble() const {
    const Lock lock(mutex_);
    return trouble_;
}

std::string HttpService::address() const {
    const Lock lock(mutex_);
    return address_;
}

}  // namespace knell
