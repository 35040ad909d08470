#include "net/http/response.hpp"

#include <fmt/format.h>

#include "net/http/gzip.hpp"
#include "net/http/problem.hpp"

namespace knell::net::http {

Response response_to(const Error& error) {
    // Whoever may not ask at all never got as far as a method.
    if (error.code == ErrorCode::unauthorized) return response_to(error, 403);
    auto problem = problem_of(error);
    return {.status = problem.status,
            .content_type = std::string(problem_type),
            .body = std::move(problem.body)};
}

Response response_to(const Error& error, int status) {
    return {.status = status,
            .content_type = std::string(problem_type),
            .body = problem_of(error, status).body};
}

Response refused(const Refusal& refusal) {
    auto response = response_to(refusal.why, refusal.status);
    response.must_close = true;
    if (refusal.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
}

Response health_response(bool is_well) {
    return {.status = is_well ? 200 : 503,
            .content_type = "text/plain",
            .body = is_well ? "ok\n" : "not ready\n"};
}

Response no_route_response(const std::variant<Matched, NoSuchPath, OtherVerbs>& found) {
    const auto* other = std::get_if<OtherVerbs>(&found);
    if (other == nullptr) {
        return response_to(Error{ErrorCode::not_found,
                                 "there is no such path; /openapi.json lists those there are",
                                 {},
                                 {}},
                           404);
    }
    auto response = response_to(
        Error{ErrorCode::method_not_found, "this path takes only " + other->allowed, {}, {}}, 405);
    response.headers.emplace_back("Allow", other->allowed);
    return response;
}

Response upgrade_required_response() {
    auto response =
        response_to(Error{ErrorCode::invalid_request,
                          "this path is for WebSocket clients, which ask for an upgrade and wait "
                          "for the answer; send single calls to POST /v1/rpc",
                          {},
                          {}},
                    426);
    response.headers.emplace_back("Upgrade", "websocket");
    response.must_close = true;
    return response;
}

namespace {

/// The result may be megabytes long and is not parsed for this: the method writes these first, and
/// both are plain.
constexpr std::size_t first_bytes = 256;

std::string etag_in(std::string_view result) {
    constexpr std::string_view mark = R"("etag":"\")";
    result = result.substr(0, first_bytes);
    const auto at = result.find(mark);
    if (at == std::string_view::npos) return {};
    result.remove_prefix(at + mark.size());
    const auto tag = result.substr(0, result.find('\\'));
    return fmt::format("\"{}\"", tag);
}

bool is_unchanged(std::string_view result) {
    return result.substr(0, first_bytes).contains(R"("unchanged":true)");
}

}  // namespace

Response response_to(Result<std::string>&& result, const Matched& matched, const Target& target) {
    if (!result) return response_to(result.error());
    Response response;
    if (matched.route->has_etag) {
        if (auto etag = etag_in(*result); !etag.empty()) {
            response.headers.emplace_back("ETag", std::move(etag));
        }
        if (is_unchanged(*result)) {
            response.status = 304;
            response.content_type.clear();
            return response;
        }
    }
    if (auto link = next_link(matched, target, *result); !link.empty()) {
        response.headers.emplace_back("Link", std::move(link));
    }
    if (const auto* rendering = matched.route->rendering) {
        response.content_type = rendering->content_type;
        response.body = rendering->body(*result);
    } else {
        response.body = std::move(*result);
        response.body += '\n';
    }
    return response;
}

Response response_to(const std::optional<wire::Answer>& answer) {
    if (!answer) return {.status = 204, .content_type = {}};
    return {.body = wire::answer_line(*answer)};
}

void compress(Response& response) {
    auto compressed = gzip_if_it_pays(response.body);
    if (!compressed) return;
    response.body = std::move(*compressed);
    response.headers.emplace_back("Content-Encoding", "gzip");
}

std::string head_text(int status, std::string_view content_type) {
    return fmt::format(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n",
        status, status < 300 ? "OK" : "Error", content_type);
}

std::string whole_text(const Response& response) {
    return head_text(response.status, response.content_type) +
           fmt::format("Content-Length: {}\r\n\r\n{}", response.body.size(), response.body);
}

}  // namespace knell::net::http
