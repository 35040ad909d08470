#include "rpc/methods/session_page.hpp"

#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "wire/session_json.hpp"

namespace knell::rpc {

std::optional<Ordinal> read_cursor(wire::FieldReader& given, const std::string& cursor) {
    if (cursor.empty()) return std::nullopt;
    Ordinal before = 0;
    const auto* end = cursor.data() + cursor.size();
    const auto [stop, error] = std::from_chars(cursor.data(), end, before);
    if (error != std::errc{} || stop != end || before < 0) {
        given.reject("cursor", "is not one that an earlier page gave as `next`");
    }
    return before;
}

namespace {

wire::Rendered render_page(const SessionPage& page) {
    constexpr std::size_t usual_bytes = 1U << 10U;  // of a session
    std::string text;
    text.reserve((page.sessions.size() + 1) * usual_bytes);
    text += R"({"sessions":[)";
    for (const auto& session : page.sessions) {
        if (&session != &page.sessions.front()) text += ',';
        wire::append_session(text, session);
    }
    text += ']';
    if (page.next) fmt::format_to(std::back_inserter(text), R"(,"next":"{}")", *page.next);
    text += '}';
    return wire::Rendered::from_text(std::move(text));
}

}  // namespace

void answer_page(Call&& call, SessionQuery&& query, Backend& backend) {
    backend.read(
        call.caller.connection,
        [query = std::move(query)](Reader& reader) -> Result<wire::Rendered> {
            const auto page = reader.list(query);
            if (!page) return std::unexpected(page.error());
            return render_page(*page);
        },
        std::move(call.respond));
}

}  // namespace knell::rpc
