#include "net/http/admission.hpp"

#include "net/http/host_check.hpp"

namespace knell::net::http {

namespace {

Refusal refuse(ErrorCode code, int status, std::string why) {
    return {.why = {code, std::move(why), {}, {}}, .status = status};
}

}  // namespace

std::variant<rpc::Access, Refusal> admit(const Sender& sender, const Rules& rules) {
    if (sender.hosts != 1) {
        return refuse(ErrorCode::invalid_request, 400, "a request has one header Host");
    }
    const auto host = parse_authority(sender.host);
    if (!is_our_host(host, rules.listen_host, rules.hosts)) {
        return refuse(ErrorCode::unauthorized, 421,
                      "the header Host names somebody else; add the name to `hosts` under `http` "
                      "in config.yaml if clients are to reach this daemon by it");
    }
    if (sender.origin && !is_our_origin(*sender.origin, host, rules.hosts)) {
        return refuse(ErrorCode::unauthorized, 403,
                      "the header Origin names a page of somebody else; pages are served only from "
                      "this host and from `hosts` under `http` in config.yaml");
    }
    const auto token = bearer_token(sender.authorization);
    if (token.empty()) {
        return refuse(ErrorCode::unauthorized, 401,
                      "a token is required: `Authorization: Bearer TOKEN`, with what `knell token "
                      "show` prints");
    }
    const auto access = access_by(token, rules.tokens);
    if (!access) {
        auto refused = refuse(ErrorCode::unauthorized, 401,
                              "this token is not known here; `knell token show` prints it");
        refused.is_guess = true;
        return refused;
    }
    if (*access == rpc::Access::full && rules.allow_processes) return rpc::Access::processes;
    return *access;
}

}  // namespace knell::net::http
