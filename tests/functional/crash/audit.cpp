#include "functional/crash/audit.hpp"

#include <fmt/format.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional::crash {

namespace {

std::string describe(const Facts& facts) {
    if (facts.generation == 0) return "absent";
    return fmt::format("generation {}, {}{}, {} messages", facts.generation,
                       facts.open ? "open" : "ended", facts.turn ? " with a turn" : "",
                       facts.messages);
}

Facts facts_of(const Json& session) {
    return {.generation = number(session, "generation"),
            .open = text(session, "status") != "ended",
            .turn = at(session, "turn") == Json(true),
            .messages = number(session, "message_count")};
}

}  // namespace

void Audit::read_new_events(Client& client) {
    for (;;) {
        const auto page =
            client.must("events.read", fmt::format(R"({{"after":{},"limit":5000}})", ids_.size()));
        const auto& events = array(page, "events");
        if (events.empty()) return;
        for (const auto& event : events) take(event);
    }
}

void Audit::take(const Json& event) {
    const auto seq = number(event, "seq");
    const auto id = text(event, "session_id");
    const auto generation = number(event, "generation");
    ids_.push_back(text(event, "id"));
    if (seq != static_cast<std::int64_t>(ids_.size())) {
        find(fmt::format("event {} follows event {}", seq, ids_.size() - 1));
    }
    const auto type = text(event, "type");
    if (id.empty()) {
        // The daemon's own word.  It is only ever killed here, so it never says that it goes.
        if (type != "gateway:startup") find(fmt::format("event {} is {}", seq, type));
        return;
    }
    auto& pair = pairs_[{id, generation}];
    if (type == "session:start") {
        if (++pair.starts > 1) find(fmt::format("{} starts {} twice", id, generation));
        if (generation > 1 && pairs_[{id, generation - 1}].ends != 1) {
            find(fmt::format("{} starts {} before {} ended", id, generation, generation - 1));
        }
    } else {
        if (pair.starts != 1) find(fmt::format("{} of {} before its start", type, id));
        if (pair.ends != 0) find(fmt::format("{} of {} after its end", type, id));
        if (type == "session:end") ++pair.ends;
    }
}

void Audit::check_session(Client& client, const std::string& id, Tracked& tracked) {
    const auto answer =
        client.call("session.show", fmt::format(R"({{"session_id":"{}","messages":1000}})", id));
    if (!answer.ok() && answer.kind() != "not_found") return find(answer.message());
    const auto seen = answer.ok() ? facts_of(answer.result()) : Facts{};
    const bool allowed =
        seen == tracked.acknowledged || (tracked.unanswered && seen == *tracked.unanswered);
    if (!allowed) {
        find(fmt::format("{} is {}; acknowledged was {}, unanswered {}", id, describe(seen),
                         describe(tracked.acknowledged),
                         tracked.unanswered ? describe(*tracked.unanswered) : "nothing"));
    }
    tracked = {.acknowledged = seen, .unanswered = {}};

    const auto& messages = array(answer.result(), "messages");
    if (static_cast<std::int64_t>(messages.size()) != seen.messages) {
        find(fmt::format("{} counts {} messages and holds {}", id, seen.messages, messages.size()));
    }
    if (answer.ok() && number(answer.result(), "input_tokens") != seen.messages) {
        find(fmt::format("{} miscounts its tokens", id));
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto expected = message_text(id, static_cast<std::int64_t>(i) + 1);
        if (text(messages[i], "content") != expected) find(expected + " is something else");
    }
    check_generations(id, seen);
}

void Audit::check_generations(const std::string& id, const Facts& seen) {
    for (std::int64_t generation = 1; generation <= seen.generation; ++generation) {
        const auto& pair = pairs_[{id, generation}];
        const bool ended = generation < seen.generation || !seen.open;
        if (pair.starts != 1 || pair.ends != (ended ? 1 : 0)) {
            find(fmt::format("{} generation {}: {} starts and {} ends, and it is {}", id,
                             generation, pair.starts, pair.ends, describe(seen)));
        }
    }
    if (pairs_.contains({id, seen.generation + 1})) find(id + " has events of the future");
}

void Audit::check_shared(const std::set<std::int64_t>& given) {
    for (const auto generation : given) {
        if (pairs_[{shared_session, generation}].starts != 1) {
            find(fmt::format("the takeover to generation {} is lost", generation));
        }
    }
}

void Audit::reread_events(Client& client) {
    const auto events = all_events(client);
    if (events.size() != ids_.size()) {
        find(fmt::format("{} events were {} before", events.size(), ids_.size()));
    }
    for (std::size_t i = 0; i < std::min(events.size(), ids_.size()); ++i) {
        if (text(events[i], "id") != ids_[i]) find(fmt::format("event {} has changed", i + 1));
    }
}

}  // namespace knell::functional::crash
