#include "rpc/methods/session_page.hpp"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "core/read_limits.hpp"
#include "store/archive.hpp"
#include "wire/session_json.hpp"

namespace knell::rpc {

namespace {

constexpr auto not_a_cursor = "is not one that an earlier page gave as `next`";

/// Nothing when it is not a number from 0 on, or something stands behind it.
std::optional<std::int64_t> parse_number(std::string_view text) {
    std::int64_t number = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end || number < 0) return std::nullopt;
    return number;
}

}  // namespace

std::optional<Ordinal> read_cursor(wire::FieldReader& given, const std::string& cursor) {
    if (cursor.empty()) return std::nullopt;
    const auto before = parse_number(cursor);
    if (!before) given.reject("cursor", not_a_cursor);
    return before;
}

std::optional<EndPlace> read_end_cursor(wire::FieldReader& given, const std::string& cursor) {
    if (cursor.empty()) return std::nullopt;
    const std::string_view text = cursor;
    const auto dot = text.find('.');
    const auto millis = parse_number(text.substr(0, dot));
    const auto ordinal =
        dot == std::string_view::npos ? std::nullopt : parse_number(text.substr(dot + 1));
    if (!millis || !ordinal) {
        given.reject("cursor", not_a_cursor);
        return std::nullopt;
    }
    return EndPlace{from_millis(*millis), *ordinal};
}

wire::Rendered render_sessions(const std::vector<Session>& sessions, std::string_view more) {
    constexpr std::size_t usual_bytes = 1U << 10U;  // of a session
    std::string text;
    text.reserve((sessions.size() + 1) * usual_bytes);
    text += R"({"sessions":[)";
    for (const auto& session : sessions) {
        if (&session != &sessions.front()) text += ',';
        wire::append_session(text, session);
    }
    text += ']';
    text += more;
    text += '}';
    return wire::Rendered::from_text(std::move(text));
}

void answer_page(Call&& call, SessionQuery&& query, Backend& backend, bool with_folded) {
    with_folded = with_folded && !query.before && folds(query);
    backend.read(
        call.caller.connection,
        [query = std::move(query), with_folded](Reader& reader) -> Result<wire::Rendered> {
            const auto page = reader.list(query);
            if (!page) return std::unexpected(page.error());
            std::string more;
            if (with_folded) {
                const auto folded =
                    archive_of(reader).count_folded(query, limits::folded_counted_max);
                if (!folded) return std::unexpected(folded.error());
                more = fmt::format(R"(,"folded":{})", *folded);
            }
            if (page->next) more += fmt::format(R"(,"next":"{}")", *page->next);
            return render_sessions(page->sessions, more);
        },
        std::move(call.respond));
}

void answer_page(Call&& call, EndedQuery&& query, Backend& backend) {
    backend.read(
        call.caller.connection,
        [query = std::move(query)](Reader& reader) -> Result<wire::Rendered> {
            const auto page = reader.latest_ended(query);
            if (!page) return std::unexpected(page.error());
            const auto& next = page->next;
            return render_sessions(
                page->sessions,
                next ? fmt::format(R"(,"next":"{}.{}")", to_millis(next->ended_at), next->ordinal)
                     : "");
        },
        std::move(call.respond));
}

}  // namespace knell::rpc
