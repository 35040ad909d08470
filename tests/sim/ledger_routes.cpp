// What everybody outside may know of conversations.

#include <algorithm>

#include "conversations.hpp"
#include "ledger.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

/// So much of Ledger::used is surely more than the 10 s within which activity is durable.
constexpr auto durable_within = 8500ms;

bool fits(const std::string& wanted, std::string_view is) {
    return wanted.empty() || wanted == is;
}

/// How specific an override is: a key over everything, then a chat type, a platform, a source.
int weight_of(const ResetSelector& selector) {
    return (selector.key.empty() ? 0 : 8) + (selector.chat_type.empty() ? 0 : 4) +
           (selector.platform.empty() ? 0 : 2) + (selector.source.empty() ? 0 : 1);
}

/// A word that counts as interaction if it is taken.
bool is_interactive(const Input& input) {
    if (const auto* append = as<Append>(input)) return !append->is_automatic;
    if (const auto* turn = as<Turn>(input)) return !turn->is_automatic;
    const auto* route = as<Route>(input);
    return route != nullptr && !route->is_automatic;
}

bool is_word(const Input& input) {
    return as<Append>(input) != nullptr || as<Turn>(input) != nullptr ||
           as<Route>(input) != nullptr;
}

}  // namespace

const ResetPolicy& PolicyBook::of(const ResetSubject& subject) const {
    const auto* best = &base;
    int weight = 0;
    for (const auto& [selector, policy] : overrides) {
        const bool is_its =
            fits(selector.key, subject.key) && fits(selector.chat_type, subject.chat_type) &&
            fits(selector.platform, subject.platform) && fits(selector.source, subject.source);
        if (!is_its || weight_of(selector) <= weight) continue;
        best = &policy;
        weight = weight_of(selector);
    }
    return *best;
}

void Conversations::follow(PolicyBook policies) {
    policies_.push_back(std::move(policies));
    for (auto& [id, one] : all_) one.may_be_told_again = true;
}

std::vector<ResetPolicy> Conversations::policies_of(const Conversation& one, bool by_former) const {
    std::vector<ResetPolicy> found;
    for (const auto& book : policies_) {
        if (by_former || &book == &policies_.back()) found.push_back(book.of(one.subject()));
    }
    return found;
}

const Conversation* Conversations::find(const SessionId& id) const {
    const auto found = all_.find(id.text());
    return found == all_.end() ? nullptr : &found->second;
}

const std::pair<const std::string, Conversation>* Conversations::newest(
    const std::string& key) const {
    const std::pair<const std::string, Conversation>* found = nullptr;
    for (const auto& one : all_) {
        if (one.second.key != key || one.second.key_taken) continue;
        if (found == nullptr || found->second.place < one.second.place) found = &one;
    }
    return found;
}

const std::pair<const std::string, Conversation>* Conversations::newest_open(
    const std::string& key) const {
    const std::pair<const std::string, Conversation>* found = nullptr;
    for (const auto& one : all_) {
        if (one.second.key != key || one.second.key_taken || !one.second.open) continue;
        if (found == nullptr || found->second.place < one.second.place) found = &one;
    }
    return found;
}

const Command* Conversations::asked_for(const SessionId& child) const {
    const auto found = children_.find(child.text());
    return found == children_.end() ? nullptr : &found->second;
}

std::vector<Conversation*> Conversations::named_by(const SessionId& id, const std::string& key) {
    std::vector<Conversation*> named;
    for (auto& [name, one] : all_) {
        const bool is_it = id.empty() ? one.key == key && !key.empty() : name == id.text();
        if (is_it) named.push_back(&one);
    }
    return named;
}

bool Conversations::may_be_reset(const SessionId& id) const {
    const auto* one = find(id);
    return std::ranges::any_of(resets_, [&](const SessionName& name) {
        return name.session_id.empty() ? one != nullptr && name.key == one->key
                                       : name.session_id == id;
    });
}

// --- what is asked ------------------------------------------------------------------------------

void Conversations::note_asked(const Input& input, Host::Duration at) {
    if (const auto* create = as<Create>(input)) {
        // One that was spooled began before that.
        const auto first = create->at ? 0ns : at;
        auto& asked = asked_at_.try_emplace(create->draft.id.text(), first).first->second;
        asked = std::min(asked, first);
    } else if (const auto* route = as<Route>(input)) {
        asked_at_.try_emplace(route->draft.id.text(), at);
        routed_.insert(route->draft.id.text());
    } else if (const auto* resume = as<Resume>(input)) {
        resumed_.insert(resume->session_id.text());
    } else if (const auto* branch = as<Branch>(input)) {
        children_.emplace(branch->child_id.text(), *branch);
    } else if (const auto* compress = as<Compress>(input)) {
        children_.emplace(compress->child_id.text(), *compress);
    } else if (const auto* suspend = as<Suspend>(input)) {
        for (auto* one : named_by(suspend->name.session_id, suspend->name.key)) {
            one->suspended = std::max(one->suspended, Belief::maybe);
        }
    } else if (const auto* reset = as<Reset>(input)) {
        resets_.push_back(reset->name);
        for (auto* one : named_by(reset->name.session_id, reset->name.key)) {
            one->suspended = std::max(one->suspended, Belief::maybe);
        }
    }
    if (!is_word(input)) return;
    pending_.emplace_back(input, at);
    const auto* route = as<Route>(input);
    const auto id = route == nullptr ? *subject_of(input) : SessionId();
    for (auto* one : named_by(id, route == nullptr ? "" : route->draft.key)) {
        const bool is_message = as<Append>(input) != nullptr && !is_interactive(input);
        if (!is_message) one->may_be_told_again = true;
    }
}

/// The daemon may have heard it, whatever the disk said.
void Conversations::note_word(const Input& input, Host::Duration at) {
    if (!is_interactive(input)) return;
    const auto* route = as<Route>(input);
    const auto id = route == nullptr ? *subject_of(input) : SessionId();
    for (auto* one : named_by(id, route == nullptr ? "" : route->draft.key)) {
        // It may have arrived while the opening was on its way to the disk.
        one->said_at_most = std::max({one->said_at_most, at, one->opened_at});
    }
}

void Conversations::forget_arrivals(Host::Duration used, bool flushed) {
    for (const auto& [input, at] : pending_) note_word(input, at);
    pending_.clear();
    for (auto& [id, one] : all_) {
        for (const auto& said : std::exchange(one.unsaved, {})) {
            if (flushed || used - said.used >= durable_within) {
                one.said_surely = std::max(one.said_surely, said.at);
            }
        }
    }
}

// --- what is told -------------------------------------------------------------------------------

Opener Conversations::opener_of(const Event& start, const StepFacts& step) const {
    if (start.generation == 1) {
        if (children_.contains(start.session_id.text())) return Opener::child;
        return routed_.contains(start.session_id.text()) ? Opener::route : Opener::client;
    }
    for (const auto& said : step.said) {
        if (!said.reply) continue;
        const auto* routed = std::get_if<RoutedReply>(&*said.reply);
        const auto* opened =
            routed != nullptr ? &routed->session : std::get_if<OpenedReply>(&*said.reply);
        const bool is_it = opened != nullptr && opened->session_id == start.session_id &&
                           opened->generation == start.generation;
        if (is_it && (routed == nullptr || routed->is_resumed)) {
            return routed != nullptr ? Opener::route : Opener::client;
        }
    }
    return resumed_.contains(start.session_id.text()) ? Opener::unknown : Opener::route;
}

/// What it may have heard before a child of it was opened in that step.
Host::Duration Conversations::latest_word(const Conversation& one, const StepFacts& step) const {
    auto latest = one.said_at_most;
    for (const auto& said : step.said) latest = std::max(latest, said.arrived_at);
    for (const auto& [input, at] : pending_) latest = std::max(latest, at);
    return latest;
}

/// Whoever is opened last has the key, for good.  One that is opened again was not, and a child is
/// its parent's.
void Conversations::note_key(const Event& event, Opener opener) {
    auto& one = all_[event.session_id.text()];
    if (one.key.empty() || one.key_taken) return;
    if (event.generation == 1) {
        one.key_taken = opener == Opener::child && all_[event.parent_id.text()].key_taken;
        if (one.key_taken) return;
        for (auto& [id, other] : all_) {
            if (other.key == one.key && other.open) other.key_taken = &other != &one;
        }
    } else if (one.ended_as && one.ended_as != Reason::superseded) {
        const auto* holder = newest(one.key);
        one.key_taken = holder->second.place > one.place;
    }
}

void Conversations::note_start(const Event& event, const StepFacts& step) {
    const auto opener = opener_of(event, step);
    const auto decided = std::ranges::max(step.decided_at);
    auto& one = all_[event.session_id.text()];
    if (event.generation == 1) {
        one.key = event.session_key;
        one.source = event.source;
        one.platform = event.platform;
        one.parent = event.parent_id;
        one.relation = event.relation;
        one.place = all_.size();
        const auto asked = asked_at_.find(event.session_id.text());
        one.said_surely = asked == asked_at_.end() ? 0ns : asked->second;
        one.said_at_most = decided;
        if (opener == Opener::child) {
            auto& parent = all_[event.parent_id.text()];
            one.said_surely = parent.said_surely;
            for (const auto& said : parent.unsaved) {
                one.said_surely = std::max(one.said_surely, said.at);
            }
            one.said_at_most = latest_word(parent, step);
            one.chat_type = parent.chat_type;
            if (!parent.open) parent.successor = event.session_id;
        } else if (event.relation == Relation::reset) {
            auto& parent = all_[event.parent_id.text()];
            if (parent.ended_as == Reason::auto_reset) parent.successor = event.session_id;
        }
    } else if (opener != Opener::client) {
        one.said_at_most = std::max(one.said_at_most, decided);
    }
    note_key(event, opener);
    one.open = true;
    one.opened_at = decided;
    one.is_reopened = event.generation > 1;
    one.has_turn = false;
    one.ended_as.reset();
    one.successor = {};
    one.told_held_by.reset();
    one.may_be_told_again = true;
}

void Conversations::note_event(const Event& event, const StepFacts& step) {
    if (event.session_id.empty()) return;
    if (event.type == EventType::session_start) {
        note_start(event, step);
        if (step.by_former && event.generation == 1) copy_messages(event.session_id);
        return;
    }
    auto& one = all_[event.session_id.text()];
    if (event.type == EventType::agent_start) one.has_turn = true;
    if (event.type == EventType::agent_end) one.has_turn = false;
    if (event.type == EventType::session_reset_deferred) {
        one.told_held_by.emplace();
        for (const auto& blocker : event.blockers) {
            one.told_held_by->insert(blocker.process_id.text());
        }
        one.may_be_told_again = false;
    }
    if (event.type != EventType::session_end) return;
    one.open = one.has_turn = false;
    one.ended_as = event.end->reason;
}

void Conversations::learn(const Session& row) {
    auto& one = all_[row.id.text()];
    one.chat_type = row.chat_type;
    // One that was taken note of stays so, whatever the row says.
    if (row.suspended_at) one.suspended = Belief::yes;
    if (one.suspended == Belief::maybe) one.suspended = Belief::no;
}

// --- what is answered ---------------------------------------------------------------------------

void Conversations::note_route(const Route& route, const RoutedReply& reply, Host::Duration at,
                               Host::Duration used) {
    auto& one = all_[reply.session.session_id.text()];
    if (route.is_automatic || reply.is_new) return;
    if (reply.is_resumed) {
        one.said_surely = std::max(one.said_surely, at);
    } else if (one.open) {
        one.unsaved.push_back({at, used});
    } else {
        one.said_surely = std::max(one.said_surely, at);  // written with its end, in the same step
    }
}

/// What a child begins with, as far as it is known.
void Conversations::copy_messages(const SessionId& child) {
    const auto* command = asked_for(child);
    if (command == nullptr) return;
    auto& its = messages_[child.text()];
    if (const auto* branch = std::get_if<Branch>(command)) {
        const auto of_parent = messages_[branch->session_id.text()];
        its.insert(of_parent.begin(), of_parent.end());
        return;
    }
    const auto& compress = std::get<Compress>(*command);
    const std::int64_t summaries = compress.summary.empty() ? 0 : 1;
    if (summaries > 0) its[1] = {"system", compress.summary, {}, 0};
    const auto of_parent = messages_[compress.session_id.text()];
    for (const auto& [number, message] : of_parent) {
        if (number > compress.kept_after) its[number - compress.kept_after + summaries] = message;
    }
}

void Conversations::note_said(const Said& said, Host::Duration used) {
    const bool is_refused = !said.reply && said.reply.error().code != ErrorCode::storage;
    if (is_word(said.input) && !is_refused) note_word(said.input, said.arrived_at);
    if (!said.reply) return;
    const auto& reply = *said.reply;
    if (const auto* append = as<Append>(said.input)) {
        const auto& tally = std::get<AppendedReply>(reply).tally;
        auto number = tally.messages - static_cast<std::int64_t>(append->messages.size());
        for (const auto& message : append->messages) {
            messages_[append->session_id.text()][++number] = message;
        }
        auto& one = all_[append->session_id.text()];
        if (!append->is_automatic) one.said_surely = std::max(one.said_surely, said.arrived_at);
    } else if (const auto* turn = as<Turn>(said.input)) {
        auto& one = all_[turn->session_id.text()];
        const bool counts = !turn->is_automatic && std::get<TurnReply>(reply).changed;
        if (counts) one.said_surely = std::max(one.said_surely, said.arrived_at);
    } else if (const auto* route = as<Route>(said.input)) {
        note_route(*route, std::get<RoutedReply>(reply), said.arrived_at, used);
    } else if (const auto* suspended = std::get_if<SuspendedReply>(&reply)) {
        if (suspended->changed) all_[suspended->session_id.text()].suspended = Belief::yes;
    } else if (const auto* reset = std::get_if<ResetReply>(&reply)) {
        if (reset->is_suspended) all_[reset->closed.session_id.text()].suspended = Belief::yes;
    } else if (const auto* branched = std::get_if<BranchedReply>(&reply)) {
        copy_messages(branched->child.session_id);
    } else if (const auto* compressed = std::get_if<CompressedReply>(&reply)) {
        copy_messages(compressed->child.session_id);
    }
}

void Conversations::note(const StepFacts& step, Host::Duration used) {
    for (const auto& said : step.said) note_said(said, used);
    // What was said last is written with the end; not where another generation goes on at once.
    for (const auto& event : step.told) {
        if (!event.end || all_[event.session_id.text()].open) continue;
        auto& one = all_[event.session_id.text()];
        for (const auto& said : std::exchange(one.unsaved, {})) {
            one.said_surely = std::max(one.said_surely, said.at);
        }
    }
    if (!step.said.empty()) {
        const auto last = step.said.back().arrived_at;
        std::erase_if(pending_, [&](const auto& one) { return one.second < last; });
    }
    if (step.by_start) forget_former_policies();
}

}  // namespace knell::sim
