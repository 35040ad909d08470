// What gateways and people ask of conversations, what becomes of summaries, and what the config
// says of resets.

#include <array>

#include <fmt/format.h>

#include "world.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

/// Their messages come by routes alone; of others clients open sessions, too.
struct Chat {
    std::string_view key;
    std::string_view platform;
    std::string_view chat_type;
};
constexpr std::array chats{Chat{"chat 0", "telegram", "dm"}, Chat{"chat 1", "telegram", "group"},
                           Chat{"chat 2", "signal", "dm"}, Chat{"key 0", "", ""},
                           Chat{"key 1", "telegram", ""}};

const Chat& pick_chat(std::uint32_t which) {
    // The first ones most of the time, so that much happens to them.
    return chats.at(which % 3 == 0 ? which / 3 % chats.size() : which / 3 % 2);
}

ResetPolicy policy_of(std::uint32_t how) {
    ResetPolicy policy;
    policy.mode = static_cast<ResetMode>(how % 4);
    policy.idle = std::chrono::minutes{how / 4 % 3 * 2 + 1};
    policy.at = std::chrono::minutes{how / 16 % 96 * 15};
    policy.on_reset = static_cast<OnReset>(how / 2048 % 3);
    constexpr std::array<std::chrono::seconds, 3> ages{30s, 1h, 24h};
    policy.process_max_age = ages.at(how / 8192 % ages.size());
    policy.name = "session_reset";
    return policy;
}

}  // namespace

Message World::next_message() {
    const auto number = ++last_message_;
    return {number % 3 == 0 ? "assistant" : "user", fmt::format("said {}", number), {}, number % 5};
}

void World::give_fresh_id(Input& input) {
    auto* command = std::get_if<Command>(&input);
    if (command == nullptr) return;
    SessionId* id = nullptr;
    if (auto* route = std::get_if<Route>(command)) id = &route->draft.id;
    if (auto* branch = std::get_if<Branch>(command)) id = &branch->child_id;
    if (auto* compress = std::get_if<Compress>(command)) id = &compress->child_id;
    if (id != nullptr) *id = SessionId(fmt::format("s{}", ++last_id_));
}

/// Mostly the one that has the key's session, as a gateway does that goes on.
Owner World::pick_gateway(const Action& action, const std::string& key) {
    const auto* found = ledger_.conversations.newest_open(key);
    if (found != nullptr && action.fate / 8 % 4 != 0) {
        const auto id = SessionId(found->first);
        const auto* life = ledger_.life(id, ledger_.find(id)->generation);
        const bool may_ask = life->is_owner_known && (life->owner.kind != OwnerKind::process ||
                                                      host_.is_alive(life->owner.process));
        if (may_ask) return life->owner;
    }
    return action.fate / 32 % 6 == 0 ? hosted_owner(action) : pick_owner(action);
}

void World::route(const Action& action) {
    const auto& chat = pick_chat(action.which);
    Route route;
    route.draft.key = chat.key;
    route.draft.source = action.fate / 64 % 4 == 0 ? "cron" : "gateway";
    route.draft.platform = chat.platform;
    route.draft.chat_type = chat.chat_type;
    route.draft.user_id = "somebody";
    route.draft.owner = pick_gateway(action, route.draft.key);
    route.draft.cwd = "/srv/gateway";
    if (action.how / 8 % 4 == 0 && route.draft.owner.kind == OwnerKind::process) {
        route.draft.on_owner_loss = OnOwnerLoss::park;
        route.draft.park_window = std::chrono::seconds{action.how / 64 % 26 + 5};
    }
    route.said_by = "a gateway";
    route.is_automatic = action.how % 5 == 0;
    say(fmt::format("  for {}{}", chat.key, route.is_automatic ? ", by itself" : ""));
    send(action, std::move(route));
}

/// The gateway that has the session says what was said, or has the agent work on it.
void World::talk(const Action& action) {
    const auto* found = ledger_.conversations.newest_open(std::string(pick_chat(action.which).key));
    if (found == nullptr) return;
    const SessionId session(found->first);
    const auto generation = ledger_.find(session)->generation;
    const bool is_automatic = action.how % 4 == 0;
    if (action.how / 4 % 3 == 0) {
        Turn turn{session, generation, /*on=*/!found->second.has_turn};
        turn.is_automatic = is_automatic;
        return send(action, std::move(turn));
    }
    Append append{session, generation, {}, is_automatic};
    for (std::uint32_t i = 0; i <= action.how / 16 % 3; ++i) {
        append.messages.push_back(next_message());
    }
    send(action, std::move(append));
}

SessionName World::pick_name(const Action& action) const {
    if (action.how / 16 % 2 == 0) return {{}, std::string(pick_chat(action.which).key)};
    return {SessionId(pick_session(action.which)), {}};
}

/// One that has a key, mostly.
void World::branch(const Action& action) {
    Branch branch;
    branch.session_id = SessionId(pick_session(action.which));
    const auto* found = ledger_.conversations.newest_open(std::string(pick_chat(action.which).key));
    if (found != nullptr && action.how % 3 != 0) branch.session_id = SessionId(found->first);
    branch.generation = generation_of(branch.session_id.text(), action.how / 32 % 8 == 0);
    branch.keep_open = action.how / 256 % 2 == 0;
    branch.said_by = "a person";
    send(action, std::move(branch));
}

// --- compression --------------------------------------------------------------------------------

void World::begin_compression(const SessionId& session, Generation generation) {
    const auto row = node_.reader().find(session);
    if (!row || !*row || (*row)->end || (*row)->generation != generation) return;
    const auto page = node_.reader().messages({.session = (*row)->ordinal, .limit = 10'000});
    if (!page || page->messages.empty()) return;
    Compressing compressing{session, generation, {}, {}, 0};
    const auto last = static_cast<std::int64_t>(page->messages.size());
    compressing.tail_after = last / 2;
    for (std::int64_t i = 0; i < last; ++i) {
        const auto& message = page->messages[static_cast<std::size_t>(i)];
        knell::count(compressing.all, message);
        if (i < compressing.tail_after) knell::count(compressing.before_tail, message);
    }
    say(fmt::format("  {} messages of session {} are to be summed up", last, session.text()));
    compressing_.push_back(std::move(compressing));
}

void World::summarise(const Action& action) {
    if (compressing_.empty()) return;
    const auto at =
        compressing_.begin() + static_cast<std::ptrdiff_t>(action.which % compressing_.size());
    const auto made = *at;
    compressing_.erase(at);
    Compress compress;
    compress.session_id = made.session;
    compress.generation = made.generation;
    compress.said_by = "a client";
    if (action.how % 4 == 0) {
        say("  none of session " + made.session.text());
        node_.tell_later(CompressionFailed{made.session, made.generation, "nobody has one"}, 0s);
        return;
    }
    say("  of session " + made.session.text());
    if (action.how % 4 == 1 && made.tail_after > 0) {
        compress.why_no_summary = "nobody has one";
        compress.kept_after = made.tail_after;
        compress.before = made.before_tail;
    } else {
        compress.summary = fmt::format("summary of {} messages", made.all.messages);
        compress.provider = "near";
        compress.kept_after = made.all.messages;
        compress.before = made.all;
    }
    requests_.push_back({host_.elapsed(), std::move(compress), 1, false});
    // Between the summary and its record, or just after.
    if (action.fate % 6 == 0) dies_after_ = action.fate / 6 % 2;
}

// --- what the config says -----------------------------------------------------------------------

/// As the writer does when the config is another one.
void World::change_policies(const Action& action) {
    policies_ = {};
    if (action.how % 3 == 0) policies_.base = policy_of(action.how / 3);
    policies_.base.name = "session_reset";
    const auto add = [this](ResetSelector selector, std::uint32_t how) {
        policies_.overrides.push_back({std::move(selector), policy_of(how)});
    };
    if (action.fate % 2 == 0) add({.source = "gateway"}, action.fate / 2);
    if (action.fate / 2 % 2 == 0) add({.platform = "telegram"}, action.which);
    if (action.fate / 4 % 2 == 0) add({.chat_type = "group"}, action.which / 7);
    if (action.fate / 8 % 2 == 0) add({.key = "chat 0"}, action.how / 5);
    if (!node_.is_up()) return;
    node_.follow_policies(policies_);
    ledger_.conversations.follow(policies_);
    ledger_.conversations.forget_former_policies();
}

bool World::perform_on_conversation(const Action& action) {
    switch (action.kind) {
        case Kind::route:
            route(action);
            return true;
        case Kind::talk:
            talk(action);
            return true;
        case Kind::suspend_session:
            send(action,
                 Suspend{pick_name(action), action.how % 2 == 0 ? "stuck" : "", "a person"});
            return true;
        case Kind::reset_by_person:
            send(action, Reset{pick_name(action), action.how % 3 == 0, "a person"});
            return true;
        case Kind::branch:
            branch(action);
            return true;
        case Kind::compress: {
            if (!node_.is_up()) return true;
            const auto* found =
                ledger_.conversations.newest_open(std::string(pick_chat(action.which).key));
            const auto id =
                found != nullptr && action.how % 4 != 0 ? found->first : pick_session(action.which);
            begin_compression(SessionId(id), generation_of(id, /*wrong=*/false));
            return true;
        }
        case Kind::summarise:
            if (node_.is_up()) summarise(action);
            return true;
        case Kind::change_policies:
            change_policies(action);
            return true;
        default:
            return false;
    }
}

}  // namespace knell::sim
