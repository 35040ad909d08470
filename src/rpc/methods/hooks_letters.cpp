// hooks.letters: events that could not be delivered yet, or were given up.

#include <algorithm>
#include <charconv>
#include <ranges>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "rpc/method_table.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::array letters_params{
    Field{.name = "name",
          .type = text,
          .max = limits::subscriber_name_bytes_max,
          .about = "only this hook or webhook; default: all"},
    Field{.name = "state",
          .type = choice,
          .choices = names_of<PendingState>,
          .about = "waiting or dead; default: both"},
    Field{.name = "after",
          .type = integer,
          .max = unbounded,
          .standard = 0,
          .about = "with name: only events after this number"},
    cursor_param(limits::subscriber_name_bytes_max + 21),
    limit_param,
};
constexpr std::array letter_fields{
    always("name", text, "the hook or webhook"),
    always("seq", integer, "of the event"),
    always("id", text, "of the event"),
    always("type", text, "of the event"),
    always("time", time, "of the event"),
    only("about a session", "session_id", id, "which"),
    always_one_of<PendingState>("state", "dead: it was given up"),
    always("attempts", integer, "that failed"),
    only("waiting", "next_try_at", time, "when it is tried again"),
    only("there was one", "last_error", text, "what was wrong the last time"),
};
constexpr std::array letters_result{
    always_objects("letters", letter_fields, "by name and number"),
    next_cursor,
};

JsonObject render(const PendingDelivery& letter) {
    JsonObject object{{"name", letter.subscriber},
                      {"seq", letter.rendered.seq},
                      {"id", letter.rendered.id},
                      {"type", letter.rendered.type},
                      {"time", letter.rendered.time}};
    if (!letter.rendered.session_id.empty()) object["session_id"] = letter.rendered.session_id;
    object["state"] = name_in(letter_state_names, letter.state);
    object["attempts"] = letter.attempts;
    if (letter.state == PendingState::waiting) {
        object["next_try_at"] = format_rfc3339(letter.next_try_at);
    }
    if (!letter.last_error.empty()) object["last_error"] = letter.last_error;
    return object;
}

/// "NAME:SEQ"; a name holds no colon.
std::string cursor_behind(const PendingDelivery& letter) {
    return fmt::format("{}:{}", letter.subscriber, letter.rendered.seq);
}

void read_cursor(wire::Given<letters_params>& given, PendingQuery& query) {
    const auto cursor = given.get<"cursor">();
    if (cursor.empty()) return;
    const auto colon = std::min(cursor.find(':'), cursor.size());
    const auto* end = cursor.data() + cursor.size();
    const auto* number = cursor.data() + std::min(colon + 1, cursor.size());
    const auto [stop, error] = std::from_chars(number, end, query.after);
    if (colon == 0 || error != std::errc{} || stop != end) {
        given.reject("cursor", "is not one that hooks.letters gave as `next`");
    }
    query.after_subscriber = cursor.substr(0, colon);
}

void letters(Call&& call, Backend& backend) {
    auto given = given_of<letters_params>(call);
    PendingQuery query;
    query.subscriber = given.get<"name">();
    query.state = given.choice<PendingState, "state">();
    query.after = given.get<"after">();
    const auto limit = given.get_as<std::size_t, "limit">();
    read_cursor(given, query);
    if (given.error()) return call.respond(given.failure());
    query.limit = limit + 1;  // the one more tells whether there is a next page
    query.without_events = true;
    backend.read(
        call.caller.connection,
        [query = std::move(query), limit](Reader& reader) -> Result<Json> {
            const auto found = reader.letters(query);
            if (!found) return std::unexpected(found.error());
            JsonArray page;
            for (const auto& letter : *found | std::views::take(limit)) {
                page.push_back(render(letter));
            }
            JsonObject result{{"letters", std::move(page)}};
            if (found->size() > limit) result["next"] = cursor_behind((*found)[limit - 1]);
            return result;
        },
        std::move(call.respond));
}

constexpr std::array family{
    Method{"hooks.letters", "events that could not be delivered yet, or were given up",
           letters_params, letters_result, letters, /*is_ordered=*/false, Access::read_only},
};

}  // namespace

std::span<const Method> hooks_letters_methods() {
    return family;
}

}  // namespace knell::rpc
