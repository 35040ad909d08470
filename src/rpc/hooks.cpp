#include "rpc/hooks.hpp"

#include <algorithm>
#include <charconv>
#include <ranges>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "wire/params.hpp"

namespace knell::rpc {

namespace {

using Verb = HooksCall::Verb;

void about_one(Verb verb, Call&& call, Backend& backend) {
    wire::Params params(call.params);
    auto name = params.required_text("name", limits::subscriber_name_bytes_max);
    if (params.error()) return call.respond(params.failure());
    backend.hooks({verb, std::move(name)}, std::move(call.respond));
}

JsonObject to_json(const PendingDelivery& letter) {
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

void read_cursor(wire::Params& params, PendingQuery& query) {
    const auto cursor = params.text("cursor", limits::subscriber_name_bytes_max + 21);
    if (cursor.empty()) return;
    const auto colon = std::min(cursor.find(':'), cursor.size());
    const auto* end = cursor.data() + cursor.size();
    const auto* number = cursor.data() + std::min(colon + 1, cursor.size());
    const auto [stop, error] = std::from_chars(number, end, query.after);
    if (colon == 0 || error != std::errc{} || stop != end) {
        params.reject("cursor", "is not one that hooks.letters gave as `next`");
    }
    query.after_subscriber = cursor.substr(0, colon);
}

}  // namespace

void hooks_list(Call&& call, Backend& backend) {
    backend.hooks({Verb::list, {}}, std::move(call.respond));
}

void hooks_test(Call&& call, Backend& backend) {
    about_one(Verb::test, std::move(call), backend);
}

void hooks_pause(Call&& call, Backend& backend) {
    about_one(Verb::pause, std::move(call), backend);
}

void hooks_resume(Call&& call, Backend& backend) {
    about_one(Verb::resume, std::move(call), backend);
}

void hooks_forget(Call&& call, Backend& backend) {
    about_one(Verb::forget, std::move(call), backend);
}

void hooks_retry(Call&& call, Backend& backend) {
    wire::Params params(call.params);
    auto name = params.text("name", limits::subscriber_name_bytes_max);
    if (params.error()) return call.respond(params.failure());
    backend.hooks({Verb::retry, std::move(name)}, std::move(call.respond));
}

void hooks_letters(Call&& call, Backend& backend) {
    wire::Params params(call.params);
    PendingQuery query;
    query.subscriber = params.text("name", limits::subscriber_name_bytes_max);
    query.state = params.choice<PendingState>("state", letter_state_names);
    query.after = params.integer("after", 0, INT64_MAX).value_or(0);
    const auto limit = static_cast<std::size_t>(
        params.integer("limit", 1, limits::list_page_max).value_or(limits::list_page_default));
    read_cursor(params, query);
    if (params.error()) return call.respond(params.failure());
    query.limit = limit + 1;  // the one more tells whether there is a next page
    query.without_events = true;
    backend.read(
        call.caller.connection,
        [query = std::move(query), limit](Reader& reader) -> Result<Json> {
            const auto letters = reader.letters(query);
            if (!letters) return std::unexpected(letters.error());
            JsonArray found;
            for (const auto& letter : *letters | std::views::take(limit)) {
                found.push_back(to_json(letter));
            }
            JsonObject result{{"letters", std::move(found)}};
            if (letters->size() > limit) result["next"] = cursor_behind((*letters)[limit - 1]);
            return result;
        },
        std::move(call.respond));
}

}  // namespace knell::rpc
