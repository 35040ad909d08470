#include "writer/write_step.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "store/archive.hpp"
#include "watch/process_check.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// With deadlines pending the clock is read this often; see AwakeClock::gap_max.
constexpr auto tick = 50ms;
/// Without deadlines but with open sessions, just often enough that a quiet daemon counts as
/// looking: else the bounds of a death would reach back to the last call.
constexpr auto quiet_tick = 400ms;
static_assert(quiet_tick < AwakeClock::gap_max);
/// After the store failed, before what fell due is tried again.
constexpr auto retry_after = 250ms;
/// The log is trimmed this often, a few rows at a time, and at once when it is longer than it may
/// be by so many.
constexpr auto trim_period = 60s;
constexpr std::size_t trim_rows = 2000;
constexpr int trim_rounds_max = 32;
constexpr std::int64_t trim_slack = 1000;
/// Messages are put into the search index back to back when nothing was written for so long; else
/// each batch is followed by a pause of so many times its length.
constexpr auto index_quiet_after = 50ms;
constexpr int index_pause_times = 19;
constexpr std::chrono::nanoseconds index_pause_min = 20ms;
constexpr auto index_retry_after = 30s;
constexpr std::size_t index_messages_max = 1000;
constexpr std::size_t index_quiet_bytes = 256U << 10U;
constexpr std::size_t index_busy_bytes = 64U << 10U;
/// So much later than it might an event goes: the age of the log is noted this often.
constexpr std::chrono::milliseconds mark_period = 1h;

/// What a look at an owner, over by `seen_at`, has to say to the engine.
Observation to_observation(const ProcessIdentity& process, Finding finding, SteadyTime seen_at) {
    if (auto* gone = std::get_if<Gone>(&finding)) {
        gone->departure.seen_at = seen_at;
        return OwnerGone{.process = process,
                         .departure = std::move(gone->departure),
                         .found = {},
                         .searched = false};
    }
    if (auto* unclear = std::get_if<CannotTell>(&finding)) {
        return OwnerUnknown{process, std::move(unclear->why)};
    }
    return OwnerAlive{process};
}

}  // namespace

WriteStep::WriteStep(Store& store, ReadClocks read_clocks, std::size_t group_max)
    : store_(store),
      read_clocks_(std::move(read_clocks)),
      group_max_(group_max),
      last_readings_(read_clocks_()),
      clock_(last_readings_),
      journal_(state_, store_),
      taken_until_(last_readings_) {}

Now WriteStep::read_now() {
    last_readings_ = read_clocks_();
    return clock_.read(last_readings_);
}

Now WriteStep::listen_from_now() {
    last_readings_ = read_clocks_();
    clock_ = AwakeClock(last_readings_, clock_.last().steady);
    return clock_.last();
}

// --- recovery -----------------------------------------------------------------------------------

std::vector<Input> WriteStep::look_at_owners(const SurveyReply& survey,
                                             const ProcessTable& processes) {
    std::vector<Input> findings;
    for (const auto& owner : survey.owners) {
        auto finding = look_for(owner.process, processes);
        if (std::holds_alternative<Gone>(finding) && has_parent_to_tell(owner.process, processes)) {
            continue;
        }
        findings.emplace_back(
            to_observation(owner.process, std::move(finding), read_clocks_().boot));
    }
    return findings;
}

std::vector<Input> WriteStep::look_at_processes(const ProcessTable& processes) {
    std::vector<Input> findings;
    state_.processes().for_each([&](const RunningProcess& process) {
        auto finding = look_for(process.row.process, processes);
        auto* gone = std::get_if<Gone>(&finding);
        if (gone == nullptr) return;
        gone->departure.seen_at = read_clocks_().boot;
        ProcessGone seen{.process = process.row.process,
                         .departure = std::move(gone->departure),
                         .never_ran = {}};
        if (process.row.origin == ProcessOrigin::started &&
            has_never_executed(process.row.process, processes)) {
            seen.never_ran = "its daemon ended before it could be let go, and it left";
        }
        findings.emplace_back(std::move(seen));
    });
    return findings;
}

void WriteStep::watch_processes(std::vector<Effect>& effects) const {
    state_.processes().for_each([&](const RunningProcess& process) {
        const auto& row = process.row;
        // What came on record while this daemon starts is watched already.
        if (!process.adopted) return;
        effects.emplace_back(WatchProcess{row});
        if (!row.stop_asked_at) return;
        effects.emplace_back(StopTree{row.id, row.process,
                                      command_text(row.argv, limits::leftover_command_bytes_max),
                                      row.stop_asked_by});
    });
}

Result<void> WriteStep::end_the_dead(std::vector<Input> findings, LeftoverFinder& leftovers,
                                     Recovered& recovered) {
    // One moment, however long it takes: nobody can be heard yet, so no lease may run down.
    const auto now = listen_from_now();
    do {
        auto step = journal_.commit(std::move(findings), now);
        findings.clear();
        if (step.failed) return fail(ErrorCode::storage, step.why_failed);
        std::ranges::copy(step.automatic(), std::back_inserter(recovered.automatic));
        for (auto& effect : step.effects) {
            if (const auto* search = std::get_if<FindLeftovers>(&effect)) {
                findings.emplace_back(OwnerGone{.process = search->process,
                                                .departure = search->departure,
                                                .found = leftovers.find(*search),
                                                .searched = true});
            } else {
                recovered.effects.push_back(std::move(effect));
            }
        }
    } while (journal_.has_work_left() || !findings.empty());
    return {};
}

Result<void> WriteStep::resume_stopping(std::vector<Effect>& effects) {
    return store_.for_each_unsettled([&](const Session& session) {
        effects.emplace_back(StopLeftovers{session.id, session.generation, session.end->leftovers});
    });
}

Result<void> WriteStep::take_in(SpoolAtStart& spool, Recovered& recovered) {
    const auto is_open = [this](const SessionId& id) { return state_.find(id) != nullptr; };
    Result<void> taken;
    spool.take_in(is_open, [&](Command&& command) -> Result<Reply> {
        if (!taken) return std::unexpected(taken.error());
        std::vector<Input> inputs;
        inputs.emplace_back(std::move(command));
        auto step = journal_.commit(std::move(inputs), listen_from_now());
        if (step.failed) {
            // A look at the owners would now end as lost what the file can explain.
            taken = fail(ErrorCode::storage, step.why_failed);
            return std::unexpected(taken.error());
        }
        std::ranges::move(step.effects, std::back_inserter(recovered.effects));
        return std::move(step.replies.front());
    });
    return taken;
}

Result<WriteStep::Recovered> WriteStep::recover(const ProcessTable& processes,
                                                LeftoverFinder& leftovers, SpoolAtStart& spool,
                                                std::string announcement) {
    const auto heads = store_.heads();
    if (!heads) return std::unexpected(heads.error());
    // Strictly later than whatever the daemon before may have written.
    last_readings_ = read_clocks_();
    clock_ = AwakeClock(last_readings_, std::max(clock_.last().steady, heads->listened + 1ms));
    if (auto recovered = journal_.recover(listen_from_now(), processes.boot_id()); !recovered) {
        return std::unexpected(recovered.error());
    }
    begin_log_age(processes.boot_id());
    state_.let_resets_wait(true);
    head_at_start_ = state_.heads().seq;
    first_seq_ = state_.heads().first_seq;
    std::vector<Input> inputs;
    inputs.emplace_back(Announce{EventType::gateway_startup, std::move(announcement)});
    if (!state_.attached_before().empty()) {
        inputs.emplace_back(ClientsGone{});
    }
    // Before any session ends: what has ended by now is nothing that it leaves behind.
    std::ranges::move(look_at_processes(processes), std::back_inserter(inputs));
    auto announced = journal_.commit(std::move(inputs), listen_from_now());
    if (announced.failed) return fail(ErrorCode::storage, announced.why_failed);
    state_.forget_attached_before();

    Recovered recovered{std::move(announced.effects), {}};
    // Before the owners are looked at: of the dead it may know more than can be seen.
    if (auto taken = take_in(spool, recovered); !taken) return std::unexpected(taken.error());
    inputs.clear();
    inputs.emplace_back(Survey{});
    auto surveyed = journal_.commit(std::move(inputs), listen_from_now());
    if (!surveyed.replies.front()) return std::unexpected(surveyed.replies.front().error());
    std::ranges::move(surveyed.effects, std::back_inserter(recovered.effects));
    inputs.clear();
    const auto& survey = std::get<SurveyReply>(*surveyed.replies.front());
    for (const auto& owner : survey.owners) leftovers.protect(owner.process);
    std::ranges::move(look_at_owners(survey, processes), std::back_inserter(inputs));
    // Before the ends that are written now add to them.
    if (auto resumed = resume_stopping(recovered.effects); !resumed) {
        return std::unexpected(resumed.error());
    }
    if (auto ended = end_the_dead(std::move(inputs), leftovers, recovered); !ended) {
        return std::unexpected(ended.error());
    }
    state_.let_resets_wait(false);
    watch_processes(recovered.effects);
    // Nothing was kept: the log begins with what was just written.
    if (first_seq_ == 0) first_seq_ = head_at_start_ + 1;
    return recovered;
}

// --- steps --------------------------------------------------------------------------------------

void WriteStep::take(std::vector<Submission>&& words, const AwakeClock::Readings& until) {
    CHECK(!has_submissions());
    submissions_ = std::move(words);
    next_submission_ = 0;
    taken_until_ = until;
}

WriteStep::Group WriteStep::next_group() {
    Group group;
    const auto add = [&](Input&& input, bool observed, Now arrived) {
        if (observed) {
            group.observed.emplace_back(group.inputs.size(), std::get<Observation>(input));
        }
        group.inputs.push_back(std::move(input));
        group.arrived.push_back(arrived);
    };
    // What was said before comes first: an older word must not undo a newer one.
    group.repeated = std::min(to_repeat_.size(), group_max_);
    const auto rest = to_repeat_.begin() + static_cast<std::ptrdiff_t>(group.repeated);
    for (auto word = to_repeat_.begin(); word != rest; ++word) {
        add(std::move(*word), /*observed=*/true, clock_.last());
    }
    to_repeat_.erase(to_repeat_.begin(), rest);
    const auto end = std::min(submissions_.size(), next_submission_ + group_max_);
    for (; next_submission_ < end; ++next_submission_) {
        auto& word = submissions_[next_submission_];
        add(std::move(word.input), word.observed, clock_.read(word.arrived));
    }
    return group;
}

Journal::Step WriteStep::step() {
    last_readings_ = read_clocks_();
    if (looked_ && last_readings_.awake - *looked_ > AwakeClock::gap_max) state_.forgive_stall();
    looked_ = last_readings_.awake;
    auto group = next_group();
    const auto heard = has_submissions() ? submissions_[next_submission_].arrived : taken_until_;
    auto now = clock_.read(heard);
    now.wall = last_readings_.wall;
    now.boot = last_readings_.boot;
    // Ends may be among the words that still wait.
    const bool heard_all = !has_submissions() && to_repeat_.empty();
    state_.set_watched_until(heard_all ? watched_until_ : std::nullopt);
    const auto commits = journal_.counts().commits;
    auto step = journal_.commit(std::move(group.inputs), now, group.arrived);
    if (failing_ && !step.failed && journal_.counts().commits == commits) try_store(step, now);
    if (heard_all && !step.failed) state_.vouch();
    state_.start_leases(std::max(read_clocks_().awake - heard.awake, 0ns));
    std::vector<Observation> refused;
    for (auto& [place, observation] : group.observed) {
        if (!step.replies[place]) refused.push_back(std::move(observation));
    }
    to_repeat_.insert(to_repeat_.begin(), std::make_move_iterator(refused.begin()),
                      std::make_move_iterator(refused.end()));
    step.replies.erase(step.replies.begin(),
                       step.replies.begin() + static_cast<std::ptrdiff_t>(group.repeated));
    failing_ = step.failed;
    return step;
}

/// A step with nothing to write says nothing of a store that has failed before.
void WriteStep::try_store(Journal::Step& step, Now now) {
    auto saved = journal_.save_all_seen(now);
    if (saved) return;
    step.failed = true;
    step.why_failed = std::move(saved.error().message);
}

std::optional<std::chrono::milliseconds> WriteStep::max_wait() const {
    const auto wait = max_wait_for_words();
    if (!index_left_) return wait;
    const auto until_then = std::chrono::ceil<std::chrono::milliseconds>(
        std::max(index_again_at_ - last_readings_.boot, 0ns));
    return std::min(wait.value_or(until_then), until_then);
}

std::optional<std::chrono::milliseconds> WriteStep::max_wait_for_words() const {
    if (failing_) return retry_after;
    if (journal_.has_work_left() || !to_repeat_.empty()) return 0ms;
    if (state_.is_following_policies()) return 0ms;
    if (trim_left_) return tick;
    if (state_.has_deadlines()) return tick;
    if (const auto due = state_.next_wall_deadline()) {
        // The clock may be set meanwhile.
        return std::clamp<std::chrono::milliseconds>(*due - last_readings_.wall, tick, quiet_tick);
    }
    if (state_.open_count() > 0 || state_.processes().size() > 0) return quiet_tick;
    return std::nullopt;
}

// --- the log's other end ------------------------------------------------------------------------

bool WriteStep::has_too_many_events(const Retention& retention) const {
    return first_seq_ > 0 && state_.heads().seq - first_seq_ >= retention.keep_count + trim_slack;
}

void WriteStep::begin_log_age(const std::string& boot_id) {
    const auto& heads = state_.heads();
    const auto boot = last_readings_.boot;
    age_at_start_ = {.age = {}, .boot_id = boot_id, .boot = boot};
    marks_ = heads.log_marks;
    if (const auto& saved = heads.log_age) {
        // In the same boot its clock went on; in another one it began at 0, and how long the host
        // was off nobody can prove.
        const auto since = saved->boot_id == boot_id ? boot - saved->boot : boot.time_since_epoch();
        age_at_start_.age =
            saved->age + std::chrono::floor<std::chrono::milliseconds>(std::max(since, 0ns));
    }
    age_saved_ = -mark_period;  // so that the next look saves it
}

std::chrono::milliseconds WriteStep::log_age() const {
    return age_at_start_.age + std::chrono::floor<std::chrono::milliseconds>(
                                   std::max(last_readings_.boot - age_at_start_.boot, 0ns));
}

Result<void> WriteStep::mark_log() {
    const auto age = log_age();
    if (age - age_saved_ < mark_period) return {};
    std::optional<LogMark> mark;
    const auto newest = state_.heads().seq;
    if (newest > 0 && (marks_.empty() || marks_.back().seq < newest)) mark = LogMark{newest, age};
    const auto forget = first_seq_ - 1;
    const LogAge now{age, age_at_start_.boot_id, last_readings_.boot};
    if (auto saved = store_.save_log_age(now, mark, forget); !saved) return saved;
    if (mark) marks_.push_back(*mark);
    std::erase_if(marks_, [&](const LogMark& old) { return old.seq <= forget; });
    age_saved_ = age;
    return {};
}

Seq WriteStep::last_to_go(const Retention& retention) const {
    auto last = state_.heads().seq - retention.keep_count;
    for (const auto& mark : marks_) {
        if (log_age() - mark.age >= retention.keep_for) last = std::max(last, mark.seq);
    }
    return last;
}

Result<std::optional<Gap>> WriteStep::trim(const Retention& retention) {
    const auto& now = last_readings_;  // of the step before
    const bool is_time = now.boot - trimmed_at_ >= trim_period;
    if (!is_time && !trim_left_ && !has_too_many_events(retention)) return std::nullopt;
    trimmed_at_ = now.boot;
    if (auto marked = mark_log(); !marked) return std::unexpected(marked.error());
    const auto first_before = first_seq_;
    int rounds = 0;
    do {
        const auto first = store_.trim_events(last_to_go(retention), trim_rows);
        if (!first) return std::unexpected(first.error());
        trim_left_ = first_seq_ > 0 && *first - first_seq_ >= static_cast<Seq>(trim_rows);
        first_seq_ = *first;
    } while (has_too_many_events(retention) && ++rounds < trim_rounds_max);
    if (first_before == 0 || first_seq_ <= first_before) return std::nullopt;
    return Gap{first_before, first_seq_ - 1};
}

// --- the search index --------------------------------------------------------------------------

Result<void> WriteStep::index_messages() {
    const auto began = read_clocks_().boot;
    const auto commits = journal_.counts().commits;
    if (std::exchange(seen_commits_, commits) != commits) written_at_ = began;
    if (began < index_again_at_) {
        index_left_ = index_left_ || commits != indexed_commits_;
        return {};
    }
    indexed_commits_ = commits;
    const bool is_quiet = began - written_at_ >= index_quiet_after;
    const auto is_left = archive_of(store_).index_messages(
        index_messages_max, is_quiet ? index_quiet_bytes : index_busy_bytes);
    const auto ended = read_clocks_().boot;
    index_left_ = is_left.value_or(true);
    if (!is_left) {
        index_again_at_ = ended + index_retry_after;
        return std::unexpected(is_left.error());
    }
    const auto pause = std::max((ended - began) * index_pause_times, index_pause_min);
    index_again_at_ = is_quiet ? SteadyTime{} : ended + pause;  // at once, or later
    return {};
}

Result<void> WriteStep::save_all_seen() {
    return journal_.save_all_seen(read_now());
}

}  // namespace knell
