// The header of an HTTP request as a stranger may send it.  Whatever it is, nobody is let in
// without a token, and what is made of the target is fit for a method's parameters.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "base/check.hpp"
#include "base/text.hpp"
#include "net/http/bounds.hpp"
#include "net/http/gzip.hpp"
#include "net/http/query_params.hpp"
#include "net/http/request_check.hpp"
#include "net/http/routes.hpp"
#include "rpc/method_table.hpp"

namespace {

using namespace knell::net::http;
namespace beast = boost::beast;

void follow(std::string_view verb, const Target& target) {
    for (const auto& segment : target.path) CHECK(knell::is_utf8(segment));
    const auto found = find_route(verb, target);
    const auto* matched = std::get_if<Matched>(&found);
    if (matched == nullptr || matched->route->method.empty()) return;
    const auto method =
        std::ranges::find(knell::rpc::methods(), matched->route->method, &knell::rpc::Method::name);
    const auto params = params_of_query(matched->params, method->params);
    CHECK(params || !params.error().field.empty());
    CHECK(!next_link(*matched, target, R"({"a":1,"next":"5"})").contains('\n'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    beast::http::request_parser<beast::http::empty_body> parser;
    parser.header_limit(bounds::header_bytes_max);
    parser.body_limit(bounds::body_bytes_max);
    boost::system::error_code error;
    parser.put(boost::asio::buffer(data, size), error);
    if (error) {
        (void)why_unreadable(error);
        return 0;
    }
    if (!parser.is_header_done()) return 0;
    const auto& request = parser.get();
    if (why_refused(request)) return 0;
    const Rules rules{.tokens = {.full = "0123456789abcdef0123456789abcdef", .read_only = {}}};
    const auto admitted = admit(sender_of(request), rules);
    CHECK(std::holds_alternative<Refusal>(admitted) ||
          std::string_view(request["Authorization"]).ends_with(rules.tokens.full));
    (void)accepts_gzip(std::string_view(request["Accept-Encoding"]));
    if (const auto target = parse_target(std::string_view(request.target()))) {
        follow(std::string_view(request.method_string()), *target);
    }
    return 0;
}
