#include "journal/journal.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "core/limits.hpp"
#include "store/apply.hpp"

namespace knell {

namespace {

/// How often the last signs of life go to the store, and how many rows at a time.
constexpr std::chrono::seconds seen_period{60};
constexpr std::size_t seen_rows_max = 2000;
/// The same of when somebody last said something.
constexpr std::chrono::seconds interactions_period{5};

/// The sessions that a batch opens, hands over or ends.
std::unordered_set<SessionId> turned_over_in(const Batch& batch) {
    std::unordered_set<SessionId> ids;
    for (const auto& change : batch.changes) {
        if (const auto* opened = std::get_if<Opened>(&change)) ids.insert(opened->session.id);
        if (const auto* reopened = std::get_if<Reopened>(&change)) ids.insert(reopened->id);
        if (const auto* ended = std::get_if<Ended>(&change)) ids.insert(ended->id);
    }
    return ids;
}

/// Signs of life do not depend on the disk: a full one must not cost anybody a lease.  Only what
/// rests on a change that did not happen must not be said: nobody is fenced by a failed takeover.
bool survives_failure(const Result<Reply>& reply, const std::unordered_set<SessionId>& undone) {
    if (!reply) return false;
    if (std::holds_alternative<InspectReply>(*reply)) return true;
    const auto* beats = std::get_if<HeartbeatReply>(&*reply);
    if (beats == nullptr) return false;
    const auto stands = [&](const SessionId& id) { return !undone.contains(id); };
    return std::ranges::all_of(beats->renewed, stands) &&
           std::ranges::all_of(beats->fenced, stands) && std::ranges::all_of(beats->ended, stands);
}

/// Of a session that is not open here only what it ended as is known.
bool rests_on_end(const Input& input) {
    return as<Inspect>(input) == nullptr && as<SettleLeftovers>(input) == nullptr &&
           as<ProcessGone>(input) == nullptr && as<ProcessActive>(input) == nullptr;
}

/// Whose agents are at work, by that: whether or not it can be counted.
void for_each_reporter(const ReportTools& reports, auto&& visit) {
    if (!reports.session_id.empty()) return visit(reports.session_id, reports.generation);
    for (const auto& one : reports.reports) visit(one.session_id, one.generation);
}

Error unknown_here(const Session& row) {
    return {ErrorCode::storage,
            fmt::format("session {} is {} in the store (generation {}), which this daemon did "
                        "not write: another program changed its row. Restart the daemon to take it "
                        "over: knell down, knell up --detach",
                        row.id.text(), row.end ? "ended" : "open", row.generation),
            {},
            {}};
}

}  // namespace

Result<void> Journal::recover(Now now, std::string boot_id) {
    const auto heads = store_.heads();
    if (!heads) return std::unexpected(heads.error());
    boot_id_ = std::move(boot_id);
    state_.set_heads(*heads, boot_id_);
    state_.begin(now);
    seen_saved_at_ = interactions_saved_at_ = listened_saved_ = now.steady;
    // Earlier starts matter to no lease but those that run since before them.
    life_ = {.began = now.steady, .forget_until = now.steady};
    auto adopted = store_.for_each_running_process(
        [this](const BackgroundProcess& process) { state_.adopt(process); });
    if (!adopted) return adopted;
    return store_.for_each_open([this](const Session& session) {
        state_.adopt(session);
        const bool runs = session.parked_since || session.owner.kind != OwnerKind::process;
        if (!runs) return;
        const auto from = session.lease_from.value_or(SteadyTime{});
        life_.forget_until = std::min(life_.forget_until, from);
    });
}

Result<void> Journal::write() {
    batch_.listened = state_.now().steady;
    if (!life_is_saved_) batch_.life = life_;
    auto written = store_.commit(batch_);
    if (!written) {
        // Whoever is in the same batch is not fenced: to them the store has failed.
        has_conflict_ = written.error().code == ErrorCode::fenced;
        return fail(ErrorCode::storage, std::move(written.error().message));
    }
    life_is_saved_ = true;
    listened_saved_ = state_.now().steady;
    return written;
}

void Journal::save_listened_now_and_then() {
    if (!state_.has_silent_since_start()) return;
    const auto now = state_.now().steady;
    // A crash loses a tenth of what this daemon has listened, or a second.
    const auto period = std::clamp<std::chrono::nanoseconds>((now - life_.began) / 10,
                                                             std::chrono::seconds{1}, seen_period);
    if (now - listened_saved_ >= period) batch_.listened = now;
}

void Journal::take(Decision&& decision) {
    for (auto& change : decision.changes) {
        state_.apply(change);
        const auto* ref = ref_of(change);
        const bool is_open = ref == nullptr || state_.find(ref->id) != nullptr;
        if (!is_open && !state_.ended_in_batch(ref->id)) ended_changed_.insert(ref->id);
        batch_.changes.push_back(std::move(change));
    }
    for (auto& event : decision.events) {
        state_.number(event);
        batch_.events.push_back(std::move(event));
    }
    std::ranges::move(decision.effects, std::back_inserter(effects_));
    for (const auto& id : decision.renewals) state_.renew(id);
    for (const auto& id : decision.interactions) state_.interact(id);
    counts_.heartbeats += decision.renewals.size();
    for (auto& one : decision.guarded) state_.set_guard(one.session, std::move(one.state));
    counts_.tools.add(decision.tools);
    if (decision.gone) state_.mark_gone(*decision.gone);
    if (decision.leaving) state_.mark_leaving(*decision.leaving);
    if (decision.looked) state_.mark_unclear(decision.looked->process, decision.looked->unclear);
}

/// The hosted session that a call names, if it is one: it is kept for that, whatever the store says
/// to it.
const LiveSession* Journal::hosted_named_by(const Input& input) const {
    const bool is_call = std::holds_alternative<Command>(input) || as<Named>(input) != nullptr;
    const auto* subject = is_call ? subject_of(input) : nullptr;
    const auto* live = subject == nullptr ? nullptr : state_.find(*subject);
    return live != nullptr && live->is_hosted() ? live : nullptr;
}

void Journal::note_signs(const Input& input) {
    if (const auto* append = as<Append>(input)) {
        signs_.push_back({append->session_id, append->generation, state_.heard()});
    } else if (const auto* turn = as<Turn>(input)) {
        signs_.push_back({turn->session_id, turn->generation, state_.heard()});
    } else if (const auto* heartbeat = as<Heartbeat>(input)) {
        for (const auto& beat : heartbeat->beats) {
            signs_.push_back({beat.session_id, beat.generation, state_.heard()});
        }
    } else if (const auto* check = as<CheckTool>(input)) {
        signs_.push_back({check->session_id, check->generation, state_.heard()});
    } else if (const auto* reports = as<ReportTools>(input)) {
        for_each_reporter(*reports, [this](const SessionId& id, Generation generation) {
            signs_.push_back({id, generation, state_.heard()});
        });
    } else if (const auto* hosted = hosted_named_by(input)) {
        signs_.push_back({hosted->id(), hosted->generation(), state_.heard()});
    }
}

Result<Reply> Journal::decide_one(Input&& input, const Session* past) {
    if (auto* save = std::get_if<SaveDeliveries>(&input)) {
        std::ranges::move(save->changes, std::back_inserter(batch_.deliveries));
        return NotedReply{};
    }
    if (const auto* question = std::get_if<Question>(&input)) {
        return answer(*question, past, state_);
    }
    const auto take_reply = [this](auto&& decided) -> Result<Reply> {
        auto reply = std::move(decided.reply);
        take(std::forward<decltype(decided)>(decided));
        return reply;
    };
    if (auto* observation = std::get_if<Observation>(&input)) {
        return take_reply(decide(std::move(*observation), past, state_));
    }
    return take_reply(decide(std::get<Command>(std::move(input)), past, state_));
}

Result<std::size_t> Journal::decide_some(std::span<Input> inputs, Step& step) {
    std::size_t taken = 0;
    for (auto& input : inputs) {
        std::optional<Session> past;
        const auto* process = process_of(input);
        const auto* subject = process == nullptr ? subject_of(input) : &process->row.session_id;
        // What becomes of a process is told with what its session was.
        const auto needs = process == nullptr ? needs_of(input) : Needs::past;
        const bool is_open =
            needs != Needs::nothing && needs != Needs::tip && state_.find(*subject) != nullptr;
        if (needs == Needs::row || (needs == Needs::past && !is_open)) {
            // What was decided of it is not written: the row in the store is out of date, so what
            // comes after it waits for the next transaction.
            if (is_ended_in_batch(*subject)) break;
            if (needs == Needs::row && is_in_batch(*subject)) break;
            auto row = store_.find(*subject);
            if (!row) return std::unexpected(row.error());
            past = std::move(*row);
        }
        if (needs == Needs::tip && state_.find_by_key(*key_of(input)) == nullptr) {
            auto tip = find_tip(*key_of(input));
            if (!tip) return std::unexpected(tip.error());
            if (!*tip) break;
            past = std::move(**tip);
        }
        const auto* live = needs == Needs::row ? state_.find(*subject) : nullptr;
        const bool has_come_apart =
            live != nullptr && past && (past->end || past->generation != live->generation());
        const bool is_unheard_of = needs == Needs::tip
                                       ? past && !past->end && state_.find(past->id) == nullptr
                                       : past && !past->end && !is_open && rests_on_end(input);
        if (has_come_apart || is_unheard_of) {
            step.replies.emplace_back(std::unexpected(unknown_here(*past)));
            ++taken;
            continue;
        }
        if (auto* command = std::get_if<Command>(&input)) {
            if (auto* create = std::get_if<Create>(command)) {
                const auto found = is_own_ancestor(*create);
                if (!found) return std::unexpected(found.error());
                if (!*found) break;
                create->is_own_ancestor = **found;
            }
            if (auto* resume = std::get_if<Resume>(command); resume != nullptr && past) {
                const auto found = has_newer_of_key(*past);
                if (!found) return std::unexpected(found.error());
                if (!*found) break;
                resume->has_newer_of_key = **found;
            }
        }
        if (!arrived_.empty()) state_.hear(arrived_[step.replies.size()]);
        note_signs(input);
        step.replies.push_back(decide_one(std::move(input), past ? &*past : nullptr));
        ++taken;
    }
    return taken;
}

const RunningProcess* Journal::process_of(const Input& input) const {
    if (const auto* gone = as<ProcessGone>(input)) return state_.processes().find(gone->process);
    if (const auto* active = as<ProcessActive>(input)) {
        return state_.processes().find(active->process_id);
    }
    return nullptr;
}

void Journal::note_lateness(const LiveSession& live, const Decision& decision) {
    const auto is_reap = [](const Change& change) {
        const auto* ended = std::get_if<Ended>(&change);
        return ended != nullptr && ended->end.reason == Reason::reaped;
    };
    if (std::ranges::none_of(decision.changes, is_reap)) return;
    ++counts_.reaps;
    counts_.reap_lateness_last = std::chrono::duration_cast<std::chrono::milliseconds>(
        state_.now().steady - live.deadline());
    counts_.reap_lateness_max = std::max(counts_.reap_lateness_max, counts_.reap_lateness_last);
}

void Journal::decide_work(Step& step) {
    work_left_ = false;
    state_.hear(state_.now());
    step.automatic_from = step.events.size() + batch_.events.size();
    const auto is_full = [this] {
        work_left_ = batch_.changes.size() >= limits::batch_commands_max;
        return work_left_;
    };
    // First what keeps sessions, then what ends them.
    while (const auto* process = state_.next_vouch_over()) {
        take(decide_vouch_over(*process, state_));
        if (is_full()) return;
    }
    while (const auto slot = state_.next_background_unsure()) {
        take(decide_background(state_.at(*slot), state_));
        if (is_full()) return;
    }
    while (const auto slot = state_.next_reset_due()) {
        take(decide_reset(state_.at(*slot), state_));
        if (is_full()) return;
    }
    while (const auto slot = state_.next_work()) {
        const auto& live = state_.at(*slot);
        auto decision = decide_due(live, state_.holds_leases(), state_);
        note_lateness(live, decision);
        take(std::move(decision));
        if (is_full()) return;
    }
}

void Journal::flush_seen_if_due() {
    const auto now = state_.now();
    const bool watches_any = state_.open_count() > 0 || state_.processes().size() > 0;
    if (now.steady - seen_saved_at_ < seen_period || !watches_any) return;
    if (save_some_seen()) {
        work_left_ = true;
    } else {
        seen_saved_at_ = now.steady;
    }
}

/// What was said lately is what an idle reset counts from, so it is written within seconds; and not
/// with a transaction for each message.
void Journal::flush_interactions_if_due() {
    const auto now = state_.now().steady;
    if (now - interactions_saved_at_ < interactions_period) return;
    if (save_some_interactions()) {
        work_left_ = true;
    } else {
        interactions_saved_at_ = now;
    }
}

bool Journal::save_some_interactions() {
    for (std::size_t row = 0; row < seen_rows_max; ++row) {
        const auto slot = state_.next_interaction_unsaved();
        if (!slot) return false;
        auto change = save_interaction(state_.at(*slot), state_);
        state_.apply(change);
        batch_.changes.push_back(std::move(change));
    }
    return true;
}

/// What a later daemon may take for a lower bound: until then this one would have seen any of its
/// owners go, and every end that it saw is on record.
std::optional<LastWord> Journal::last_word() const {
    const auto until = state_.watched_until();
    if (!until || state_.has_leaving() || *until <= state_.unwatched_until()) return std::nullopt;
    const auto& now = state_.now();
    const auto ago = now.boot - std::min(*until, now.boot);
    return LastWord{now.wall - std::chrono::ceil<std::chrono::milliseconds>(ago), boot_id_, *until};
}

bool Journal::save_some_seen() {
    batch_.last_word = last_word();
    for (std::size_t row = 0; row < seen_rows_max; ++row) {
        const auto slot = state_.next_unsaved();
        if (!slot) return false;
        auto change = save_seen(state_.at(*slot));
        state_.apply(change);
        batch_.changes.push_back(std::move(change));
    }
    return true;
}

void Journal::roll_back(Step& step, std::size_t first, const Error& why) {
    ++counts_.failures;
    step.failed = true;
    step.why_failed = why.message;
    step.automatic_from = SIZE_MAX;
    work_left_ = true;
    state_.revert();
    step.conflicts = follow_store();
    // Whoever beat or wrote is alive, whether or not there was room for what it wrote; also when it
    // was refused for a takeover that did not happen.
    for (const auto& [id, generation, arrived] : signs_) {
        const auto* live = state_.find(id);
        if (live == nullptr || live->generation() != generation || live->parked_since()) continue;
        state_.hear(arrived);
        state_.renew(id);
    }
    const auto undone = turned_over_in(batch_);
    for (auto i = first; i < step.replies.size(); ++i) {
        if (!survives_failure(step.replies[i], undone)) step.replies[i] = std::unexpected(why);
    }
}

void Journal::renew_behind(std::span<Input> rest, Step& step, const Error& why) {
    const auto sign = [this](const SessionId& id, Generation generation) {
        const auto* live = state_.find(id);
        if (live == nullptr || live->generation() != generation || live->parked_since()) return;
        state_.renew(id);
    };
    for (auto& input : rest) {
        if (!arrived_.empty()) state_.hear(arrived_[step.replies.size()]);
        step.replies.emplace_back(std::unexpected(why));
        if (const auto* append = as<Append>(input)) {
            sign(append->session_id, append->generation);
        } else if (const auto* turn = as<Turn>(input)) {
            sign(turn->session_id, turn->generation);
        } else if (const auto* check = as<CheckTool>(input)) {
            sign(check->session_id, check->generation);
        } else if (const auto* reports = as<ReportTools>(input)) {
            for_each_reporter(*reports, sign);
        } else if (as<Heartbeat>(input) != nullptr) {
            // Decided on what the store holds; a doubt it cannot take note of stays for now.
            auto decision = decide(std::get<Command>(std::move(input)), nullptr, state_);
            for (const auto& id : decision.renewals) state_.renew(id);
            counts_.heartbeats += decision.renewals.size();
            step.replies.back() = std::move(decision.reply);
        } else if (const auto* hosted = hosted_named_by(input)) {
            state_.renew(hosted->id());
        }
    }
}

Journal::Step Journal::commit(std::vector<Input>&& inputs, Now now, std::span<const Now> arrived) {
    CHECK(arrived.empty() || arrived.size() == inputs.size());
    arrived_ = arrived;
    Step step;
    step.replies.reserve(inputs.size());
    std::span<Input> left = inputs;
    state_.begin(now);
    do {
        const auto first = step.replies.size();
        const auto counted = counts_;
        const auto seen_saved_at = seen_saved_at_;
        const auto interactions_saved_at = interactions_saved_at_;
        batch_.clear();
        effects_.clear();
        signs_.clear();
        ended_changed_.clear();
        const auto taken = decide_some(left, step);
        auto written = taken ? Result<void>{} : Result<void>{std::unexpected(taken.error())};
        if (written) {
            left = left.subspan(*taken);
            if (left.empty()) {
                decide_work(step);
                flush_seen_if_due();
                flush_interactions_if_due();
                save_listened_now_and_then();
            }
            if (!batch_.empty()) {
                if (state_.is_last_word_stale() && !batch_.last_word) batch_.last_word = LastWord{};
                written = write();
                if (written) ++counts_.commits;
                if (written && batch_.last_word) state_.last_word_written(*batch_.last_word);
            }
        }
        if (!written) {
            roll_back(step, first, written.error());
            seen_saved_at_ = seen_saved_at;
            interactions_saved_at_ = interactions_saved_at;
            counts_.reaps = counted.reaps;
            counts_.tools = counted.tools;
            counts_.reap_lateness_last = counted.reap_lateness_last;
            counts_.reap_lateness_max = counted.reap_lateness_max;
            renew_behind(std::span(inputs).subspan(step.replies.size()), step, written.error());
            return step;
        }
        counts_.commands += *taken;
        std::ranges::move(effects_, std::back_inserter(step.effects));
        std::ranges::move(batch_.events, std::back_inserter(step.events));
        std::ranges::move(state_.settle(), std::back_inserter(step.effects));
    } while (!left.empty());
    return step;
}

Result<void> Journal::save_all_seen(Now now) {
    state_.begin(now);
    bool more = true;
    while (more) {
        batch_.clear();
        const bool more_seen = save_some_seen();
        more = save_some_interactions() || more_seen;
        if (auto written = write(); !written) {
            state_.revert();
            // Each round leaves fewer sessions that can conflict.
            if (!follow_store().empty()) {
                more = true;
                continue;
            }
            return written;
        }
        state_.settle();
    }
    return {};
}

}  // namespace knell
