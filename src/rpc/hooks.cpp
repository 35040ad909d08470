#include "rpc/hooks.hpp"

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

JsonObject to_json(const Letter& letter) {
    JsonObject object{{"name", letter.subscriber},
                      {"seq", letter.parcel.seq},
                      {"id", letter.parcel.id},
                      {"type", letter.parcel.type},
                      {"time", letter.parcel.time}};
    if (!letter.parcel.session_id.empty()) object["session_id"] = letter.parcel.session_id;
    object["state"] = name_in(letter_state_names, letter.state);
    object["attempts"] = letter.attempts;
    if (letter.state == LetterState::waiting) {
        object["next_try_at"] = format_rfc3339(letter.next_try_at);
    }
    if (!letter.last_error.empty()) object["last_error"] = letter.last_error;
    return object;
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
    LetterQuery query;
    query.subscriber = params.text("name", limits::subscriber_name_bytes_max);
    query.state = params.choice<LetterState>("state", letter_state_names);
    query.after = params.integer("after", 0, INT64_MAX).value_or(0);
    query.limit = static_cast<std::size_t>(
        params.integer("limit", 1, limits::list_page_max).value_or(limits::list_page_default));
    if (params.error()) return call.respond(params.failure());
    backend.read(
        [query = std::move(query)](Reader& reader) -> Result<Json> {
            const auto letters = reader.letters(query);
            if (!letters) return std::unexpected(letters.error());
            JsonArray found;
            for (const auto& letter : *letters) found.push_back(to_json(letter));
            return JsonObject{{"letters", std::move(found)}};
        },
        std::move(call.respond));
}

}  // namespace knell::rpc
