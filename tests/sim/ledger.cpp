#include "ledger.hpp"

#include <algorithm>
#include <utility>

#include "wire/json.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

}  // namespace

Seq FeedLine::seq() const {
    return wire::int_at(wire::parse_json(event)->as_object(), "seq");
}

// --- time ---------------------------------------------------------------------------------------

void Ledger::begin_listening(SteadyTime awake) {
    last_look_ = awake;
    last_decision_.reset();
    listened_ += 1ns;  // later than any sign of life that the one before heard
    starts_.push_back(listened_);
}

void Ledger::listen(SteadyTime awake) {
    const auto counted = std::clamp<Host::Duration>(awake - last_look_, 0ns, 500ms);
    listened_ += counted;
    last_look_ = awake;
    const bool is_young = !starts_.empty() && listened_ - starts_.back() < 2500ms;
    if (is_disk_well_ && !is_young) used_ += counted * 17 / 20;
}

void Ledger::note_decision(SteadyTime awake, Host::Duration elapsed) {
    if (last_decision_) {
        const auto gap = std::max<Host::Duration>(awake - last_decision_->first, 0ns);
        if (gap >= 450ms) stalls_.push_back({last_decision_->second, decided_by_});
        decided_by_ += std::min<Host::Duration>(gap, 500ms);
    }
    last_decision_ = {awake, elapsed};
    std::erase_if(stalls_,
                  [&](const Stall& stall) { return decided_by_ - stall.decided_by >= 2100ms; });
}

Host::Duration Ledger::heard_surely_until(Host::Duration now) const {
    return stalls_.empty() ? now : std::min(now, stalls_.front().from);
}

Host::Duration Ledger::runs_from(const Life& life) const {
    const auto last = std::max(life.last_sign, life.arrived_sign.value_or(0ns));
    const auto start = std::ranges::upper_bound(starts_, last);
    return start == starts_.end() ? last : *start;
}

void Ledger::note_death(const ProcessIdentity& process) {
    deaths_.emplace_back(process, listened_);
}

Host::Duration Ledger::listened_since_death(const ProcessIdentity& process) const {
    for (const auto& [identity, at] : deaths_) {
        if (identity == process) return listened_ - at;
    }
    return Host::Duration{-1};
}

// --- what was said and told ---------------------------------------------------------------------

void Ledger::note_intent(const Input& input) {
    if (const auto* close = as<Close>(input)) close_intents_.push_back(*close);
    if (const auto* stop = as<StopProcess>(input)) stop_intents_.insert(stop->process_id.text());
    if (const auto* create = as<Create>(input); create && create->and_close) {
        close_intents_.push_back(*create->and_close);
    }
    if (const auto* resume = as<Resume>(input); resume && resume->and_close) {
        close_intents_.push_back(*resume->and_close);
    }
}

bool Ledger::may_be_closed(const SessionId& id, Generation generation, Reason reason) const {
    return std::ranges::any_of(close_intents_, [&](const Close& close) {
        return close.session_id == id && close.reason == reason &&
               close.generation.value_or(generation) == generation;
    });
}

const Known* Ledger::find(const SessionId& id) const {
    const auto found = sessions_.find(id.text());
    return found == sessions_.end() ? nullptr : &found->second;
}

const Life* Ledger::life(const SessionId& id, Generation generation) const {
    const auto* known = find(id);
    if (known == nullptr) return nullptr;
    const auto found = known->lives.find(generation);
    return found == known->lives.end() ? nullptr : &found->second;
}

const Event* Ledger::before(const Event& event) const {
    const auto seq = before_.at(static_cast<std::size_t>(event.seq - 1));
    return seq == 0 ? nullptr : &log_.at(static_cast<std::size_t>(seq - 1));
}

Life& Ledger::life_of(const SessionId& id, Generation generation) {
    return sessions_[id.text()].lives[generation];
}

std::size_t Ledger::open_leases() const {
    std::size_t leases = 0;
    for (const auto& [id, known] : sessions_) {
        if (!known.open) continue;
        const auto life = known.lives.find(known.generation);
        if (life->second.is_owner_known && life->second.owner.kind == OwnerKind::lease) ++leases;
    }
    return leases;
}

void Ledger::note_arrived_sign(const SessionId& id, Generation generation) {
    const auto* known = life(id, generation);
    if (known == nullptr || !known->open) return;
    auto& life = life_of(id, generation);
    if (listened_ - runs_from(life) < life.owner.lease_ttl) life.arrived_sign = listened_;
}

void Ledger::note_arrival(const Input& input, Host::Duration at) {
    conversations.note_asked(input, at);
    if (const auto* append = as<Append>(input)) {
        note_arrived_sign(append->session_id, append->generation);
    } else if (const auto* turn = as<Turn>(input)) {
        note_arrived_sign(turn->session_id, turn->generation);
    } else if (const auto* beats = as<Heartbeat>(input)) {
        for (const auto& beat : beats->beats) {
            note_arrived_sign(beat.session_id, beat.generation);
        }
    } else if (const auto* check = as<CheckTool>(input)) {
        note_arrived_sign(check->session_id, check->generation);
    } else if (const auto* reports = as<ReportTools>(input)) {
        if (!reports->session_id.empty()) {
            note_arrived_sign(reports->session_id, reports->generation);
        }
        for (const auto& one : reports->reports) {
            if (reports->session_id.empty()) note_arrived_sign(one.session_id, one.generation);
        }
    } else if (const auto* hosted = hosted_named_by(input)) {
        note_arrived_sign(*hosted, sessions_[hosted->text()].generation);
    }
}

const SessionId* Ledger::hosted_named_by(const Input& input) const {
    const bool is_call = std::holds_alternative<Command>(input) || as<Named>(input) != nullptr;
    const auto* subject = is_call ? subject_of(input) : nullptr;
    const auto* known = subject == nullptr ? nullptr : find(*subject);
    if (known == nullptr || !known->open) return nullptr;
    const bool is_hosted = known->lives.at(known->generation).owner.kind == OwnerKind::hosted;
    return is_hosted ? subject : nullptr;
}

void Ledger::forget_arrivals(bool flushed) {
    tools.clear();
    conversations.forget_arrivals(used_, flushed);
    for (auto& [id, process] : processes_) {
        process.activity.reset();
        process.vouched_until.reset();
        process.words.clear();
    }
    for (auto& [id, known] : sessions_) {
        for (auto& [generation, life] : known.lives) {
            life.arrived_sign.reset();
            life.deaths_seen.clear();
        }
    }
}

void Ledger::note_sign(const SessionId& id, Generation generation, Host::Duration arrived) {
    if (life(id, generation) == nullptr) return;
    auto& life = life_of(id, generation);
    life.used_at_sign = used_;
    // What the disk could not take note of goes with the daemon.
    if (step_failed_) {
        life.arrived_sign = std::max(life.arrived_sign.value_or(0ns), arrived);
    } else {
        life.last_sign = std::max(life.last_sign, arrived);
    }
    // A beat that the disk could not take note of renews the lease, but leaves it unknown.
    if (!step_failed_) life.was_held = false;
}

void Ledger::fill_owner(const Session& row) {
    if (life(row.id, row.generation) == nullptr) return;
    auto& life = life_of(row.id, row.generation);
    if (life.is_owner_known) return;
    life.owner = row.owner;
    life.on_owner_loss = row.on_owner_loss;
    life.park_window = row.park_window;
    life.leftovers = row.leftovers;
    life.is_owner_known = true;
}

void Ledger::note_seen_death(const OwnerGone& gone) {
    for (auto& [id, known] : sessions_) {
        auto& life = known.lives[known.generation];
        const bool is_its_owner = known.open && life.is_owner_known &&
                                  life.owner.kind == OwnerKind::process &&
                                  life.owner.process == gone.process;
        if (is_its_owner) life.deaths_seen.push_back(gone.departure);
    }
}

void Ledger::note_reply(const Said& said) {
    // Whatever the disk said: the daemon knows, and says it again to itself.
    if (const auto* gone = as<OwnerGone>(said.input)) note_seen_death(*gone);
    note_process_reply(said);
    if (!said.reply) return;
    if (const auto* hosted = hosted_named_by(said.input)) {
        note_sign(*hosted, sessions_[hosted->text()].generation, said.arrived);
    }
    if (const auto* opened = std::get_if<OpenedReply>(&*said.reply)) {
        auto& life = life_of(opened->session_id, opened->generation);
        if (const auto* create = as<Create>(said.input)) {
            fill_owner(create->draft);
            life.owner = create->draft.owner;
            life.on_owner_loss = create->draft.on_owner_loss;
            life.park_window = create->draft.park_window;
            life.leftovers = create->draft.leftovers;
            life.wrapper = create->draft.owner.process;  // of the same boot and namespace
            life.wrapper.pid = create->reaper.pid;
            life.wrapper.start_ticks = create->reaper.start_ticks;
        } else if (const auto* resume = as<Resume>(said.input); resume && !life.is_owner_known) {
            // Known already: the daemon goes on hosting it.
            life.owner = resume->owner;
            life.on_owner_loss = resume->on_owner_loss;
            life.park_window = resume->park_window;
            life.leftovers = resume->leftovers;
        }
        life.is_owner_known = true;
        note_sign(opened->session_id, opened->generation, listened_);
    } else if (const auto* routed = std::get_if<RoutedReply>(&*said.reply)) {
        const auto& session = routed->session;
        auto& life = life_of(session.session_id, session.generation);
        const bool is_opened = routed->is_new || routed->is_resumed;
        if (is_opened && !life.is_owner_known) {
            const auto& draft = as<Route>(said.input)->draft;
            life.owner = draft.owner;
            life.on_owner_loss = draft.on_owner_loss;
            life.park_window = draft.park_window;
            life.leftovers = LeftoversPolicy::none;
            life.is_owner_known = true;
        }
        note_sign(session.session_id, session.generation, is_opened ? listened_ : said.arrived);
    } else if (const auto* appended = std::get_if<AppendedReply>(&*said.reply)) {
        sessions_[appended->session_id.text()].messages = appended->tally.messages;
        note_sign(appended->session_id, appended->generation, said.arrived);
    } else if (const auto* check = as<CheckTool>(said.input)) {
        note_sign(check->session_id, check->generation, said.arrived);
    } else if (const auto* reports = as<ReportTools>(said.input)) {
        note_reporters(*reports, said.arrived);
    } else if (const auto* turn = std::get_if<TurnReply>(&*said.reply)) {
        note_sign(turn->session_id, turn->generation, said.arrived);
    } else if (const auto* beats = std::get_if<HeartbeatReply>(&*said.reply)) {
        for (const auto& id : beats->renewed) {
            note_sign(id, sessions_[id.text()].generation, said.arrived);
        }
    }
}

/// Whose reports were counted: their agents are at work.
void Ledger::note_reporters(const ReportTools& reports, Host::Duration arrived) {
    if (!reports.session_id.empty()) {
        return note_sign(reports.session_id, reports.generation, arrived);
    }
    for (const auto& one : reports.reports) {
        const auto* known = find(one.session_id);
        const bool was_counted =
            known != nullptr && known->open && known->generation == one.generation;
        if (was_counted) note_sign(one.session_id, one.generation, arrived);
    }
}

void Ledger::note_event(const Event& event, const StepFacts& step) {
    log_.push_back(event);
    before_.push_back(0);
    if (event.session_id.empty()) return;
    auto& known = sessions_[event.session_id.text()];
    before_.back() = std::exchange(known.last_told, event.seq);
    note_process_event(event, step);
    note_handed_over(event, step);
    auto& life = known.lives[event.generation];
    if (event.type == EventType::session_start) {
        known.generation = event.generation;
        known.open = true;
        if (known.labels) known.labels->title = event.title;
        life.open = true;
        life.last_sign = happened_at_;
        life.used_at_sign = used_;
        life.opened_at = std::ranges::min(step.decided_at);
        for (const auto decided_at : step.decided_at) {
            life.opened_ahead.push_back(event.time - Host::shown_at(decided_at, {}));
        }
        life.opened_wall = event.started_at;
        ++open_;
    } else if (event.type == EventType::session_end) {
        known.open = false;
        life.open = false;
        --open_;
    } else if (event.type == EventType::session_update) {
        known.labels = event.labels;
    } else if (event.type == EventType::session_unknown) {
        life.was_held = life.owner.kind == OwnerKind::lease;
        life.was_unknown = true;
        if (life.was_held) life.last_sign = std::max(life.last_sign, heard_until_);
    }
}

void Ledger::note(const StepFacts& step) {
    step_failed_ = step.failed;
    happened_at_ = step.by_former && !starts_.empty() ? starts_.back() - 1ns : listened_;
    heard_until_ = step.heard_until.value_or(happened_at_);
    for (const auto& event : step.told) {
        note_event(event, step);
        conversations.note_event(event, step);
    }
    for (const auto& said : step.said) {
        if (!step.by_former) tools.take(said, *this, step);
    }
    tools.clear_due();
    for (const auto& said : step.said) note_reply(said);
    conversations.note(step, used_);
}

}  // namespace knell::sim
