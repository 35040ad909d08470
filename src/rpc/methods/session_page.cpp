#include "rpc/methods/session_page.hpp"

#include <charconv>

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

JsonObject render_page(const SessionPage& page) {
    JsonArray sessions;
    for (const auto& session : page.sessions) sessions.push_back(wire::to_json(session));
    JsonObject result;
    result["sessions"] = std::move(sessions);
    if (page.next) result["next"] = fmt::to_string(*page.next);
    return result;
}

}  // namespace

void answer_page(Call&& call, SessionQuery&& query, Backend& backend) {
    backend.read(
        call.caller.connection,
        [query = std::move(query)](Reader& reader) -> Result<Json> {
            const auto page = reader.list(query);
            if (!page) return std::unexpected(page.error());
            return render_page(*page);
        },
        std::move(call.respond));
}

}  // namespace knell::rpc
