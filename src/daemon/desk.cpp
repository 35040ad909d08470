#include "daemon/desk.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/limits.hpp"
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

/// What a look at an owner has to say to the engine.
Command to_command(const ProcessIdentity& process, Finding finding) {
    if (auto* gone = std::get_if<Gone>(&finding)) {
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

Desk::Desk(Store& store, ReadClocks read_clocks)
    : store_(store),
      read_clocks_(std::move(read_clocks)),
      last_readings_(read_clocks_()),
      clock_(last_readings_),
      journal_(state_, store_) {}

Now Desk::read_now() {
    last_readings_ = read_clocks_();
    return clock_.read(last_readings_);
}

// --- recovery -----------------------------------------------------------------------------------

std::vector<Command> Desk::look_at_owners(const SurveyReply& survey, const ProcessTable& processes,
                                          std::vector<Effect>& effects) {
    std::vector<Command> findings;
    std::set<std::pair<std::int32_t, std::uint64_t>> unclear;
    for (const auto& owner : survey.owners) {
        findings.push_back(to_command(owner.process, look_for(owner.process, processes)));
        if (!std::holds_alternative<OwnerUnknown>(findings.back())) continue;
        unclear.emplace(owner.process.pid, owner.process.start_ticks);
    }
    // To watch these would only say again that they cannot be checked, perhaps after they have
    // shown signs of life.
    std::erase_if(effects, [&](const Effect& effect) {
        const auto* watch = std::get_if<WatchOwner>(&effect);
        return watch != nullptr &&
               unclear.contains({watch->process.pid, watch->process.start_ticks});
    });
    return findings;
}

Result<void> Desk::end_the_dead(std::vector<Command> commands, LeftoverFinder& leftovers,
                                Recovered& recovered) {
    // One moment, however long it takes: nobody can be heard yet, so no lease may run down.
    const auto now = read_now();
    do {
        auto step = journal_.commit(std::move(commands), now);
        commands.clear();
        if (step.failed) {
            return fail(ErrorCode::storage, "the ends of dead owners cannot be written");
        }
        std::ranges::copy(step.automatic(), std::back_inserter(recovered.automatic));
        for (auto& effect : step.effects) {
            if (const auto* search = std::get_if<FindLeftovers>(&effect)) {
                commands.emplace_back(OwnerGone{.process = search->process,
                                                .departure = search->departure,
                                                .found = leftovers.find(*search),
                                                .searched = true});
            } else {
                recovered.effects.push_back(std::move(effect));
            }
        }
    } while (journal_.has_work_left() || !commands.empty());
    return {};
}

Result<void> Desk::resume_stopping(std::vector<Effect>& effects) {
    return store_.for_each_unsettled([&](const Session& session) {
        effects.emplace_back(StopLeftovers{session.id, session.generation, session.end->leftovers});
    });
}

Result<Desk::Recovered> Desk::recover(const ProcessTable& processes, LeftoverFinder& leftovers,
                                      std::string announcement) {
    if (auto recovered = journal_.recover(read_now()); !recovered) {
        return std::unexpected(recovered.error());
    }
    head_at_start_ = state_.heads().seq;
    first_seq_ = state_.heads().first_seq;
    std::vector<Command> commands;
    commands.emplace_back(Survey{});
    auto surveyed = journal_.commit(std::move(commands), read_now());
    if (!surveyed.replies.front()) return std::unexpected(surveyed.replies.front().error());

    Recovered recovered{std::move(surveyed.effects), {}};
    commands.clear();
    commands.emplace_back(Announce{EventType::gateway_startup, std::move(announcement)});
    const auto& survey = std::get<SurveyReply>(*surveyed.replies.front());
    for (const auto& owner : survey.owners) leftovers.protect(owner.process);
    std::ranges::move(look_at_owners(survey, processes, recovered.effects),
                      std::back_inserter(commands));
    // Before the ends that are written now add to them.
    if (auto resumed = resume_stopping(recovered.effects); !resumed) {
        return std::unexpected(resumed.error());
    }
    if (auto ended = end_the_dead(std::move(commands), leftovers, recovered); !ended) {
        return std::unexpected(ended.error());
    }
    // Nothing was kept: the log begins with what was just written.
    if (first_seq_ == 0) first_seq_ = head_at_start_ + 1;
    return recovered;
}

// --- steps --------------------------------------------------------------------------------------

Journal::Step Desk::step(std::vector<Word>&& words) {
    // What was said before comes first: an older word must not undo a newer one.
    const auto repeated = std::min(unheard_.size(), limits::batch_commands_max);
    const auto rest = unheard_.begin() + static_cast<std::ptrdiff_t>(repeated);
    std::vector<Command> commands(std::make_move_iterator(unheard_.begin()),
                                  std::make_move_iterator(rest));
    unheard_.erase(unheard_.begin(), rest);
    std::vector<std::pair<std::size_t, Command>> observed;
    for (std::size_t i = 0; i < repeated; ++i) observed.emplace_back(i, commands[i]);
    for (auto& word : words) {
        if (word.observed) observed.emplace_back(commands.size(), word.command);
        commands.push_back(std::move(word.command));
    }
    auto step = journal_.commit(std::move(commands), read_now());
    std::vector<Command> refused;
    for (auto& [place, command] : observed) {
        if (!step.replies[place]) refused.push_back(std::move(command));
    }
    unheard_.insert(unheard_.begin(), std::make_move_iterator(refused.begin()),
                    std::make_move_iterator(refused.end()));
    step.replies.erase(step.replies.begin(),
                       step.replies.begin() + static_cast<std::ptrdiff_t>(repeated));
    failing_ = step.failed;
    return step;
}

std::optional<std::chrono::milliseconds> Desk::patience() const {
    if (failing_) return retry_after;
    if (journal_.has_work_left() || !unheard_.empty()) return 0ms;
    if (trim_left_) return tick;
    if (state_.has_deadlines()) return tick;
    if (state_.open_count() > 0) return quiet_tick;
    return std::nullopt;
}

// --- the log's other end ------------------------------------------------------------------------

bool Desk::has_too_many_events(const Retention& retention) const {
    return first_seq_ > 0 && state_.heads().seq - first_seq_ >= retention.keep_count + trim_slack;
}

Result<std::optional<Gap>> Desk::trim(const Retention& retention) {
    const auto& now = last_readings_;  // of the step before
    const bool is_time = now.boot - trimmed_at_ >= trim_period;
    if (!is_time && !trim_left_ && !has_too_many_events(retention)) return std::nullopt;
    trimmed_at_ = now.boot;
    const auto first_before = first_seq_;
    int rounds = 0;
    do {
        const auto first = store_.trim_events(retention, now.wall, trim_rows);
        if (!first) return std::unexpected(first.error());
        trim_left_ = first_seq_ > 0 && *first - first_seq_ >= static_cast<Seq>(trim_rows);
        first_seq_ = *first;
    } while (has_too_many_events(retention) && ++rounds < trim_rounds_max);
    if (first_before == 0 || first_seq_ <= first_before) return std::nullopt;
    return Gap{first_before, first_seq_ - 1};
}

Result<void> Desk::save_all_seen() {
    return journal_.save_all_seen(read_now());
}

}  // namespace knell
