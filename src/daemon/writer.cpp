#include "daemon/writer.hpp"

#include <algorithm>
#include <future>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "core/limits.hpp"
#include "platform/clock.hpp"
#include "platform/log.hpp"
#include "platform/version.hpp"
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
/// Automatic acts explained one by one in a step; more are summed up.
constexpr std::size_t explained_max = 100;

AwakeClock::Readings read_all_clocks() {
    const auto clocks = read_clocks();
    return {clocks.wall, read_awake_clock(), clocks.steady};
}

/// What a look at an owner has to say to the engine.
Command to_command(const SurveyReply::Owner& owner, Finding finding) {
    if (auto* gone = std::get_if<Gone>(&finding)) {
        return OwnerGone{.process = owner.process,
                         .departure = std::move(gone->departure),
                         .leftovers = {},
                         .searched = false};
    }
    if (auto* unclear = std::get_if<CannotTell>(&finding)) {
        return OwnerUnknown{owner.process, std::move(unclear->why)};
    }
    return OwnerAlive{owner.process};
}

void explain(const std::vector<Event>& automatic) {
    std::size_t told = 0;
    for (const auto& event : automatic) {
        if (event.type == EventType::agent_end) continue;
        if (++told > explained_max) continue;
        if (event.end) {
            log_info("ended session {} generation {}: {} ({}){}{}; {}", event.session_id.text(),
                     event.generation, name_of(event.end->reason),
                     name_in(proof_names, event.end->proof()),
                     event.end->detail.empty() ? "" : ": ", event.end->detail, event.end->evidence);
        } else {
            log_info("{} {} generation {}: {}", name_in(event_type_names, event.type),
                     event.session_id.text(), event.generation, event.detail);
        }
    }
    if (told > explained_max) {
        log_info("and {} more in the same step; `knell events` has them all", told - explained_max);
    }
}

}  // namespace

Writer::Writer(Store& store, Publish publish, CarryOut carry_out)
    : store_(store),
      publish_(std::move(publish)),
      carry_out_(std::move(carry_out)),
      queue_(limits::queue_commands_max),
      clock_(read_all_clocks()),
      journal_(state_, store_) {}

Writer::~Writer() {
    stop();
}

Now Writer::read_now() {
    return clock_.read(read_all_clocks());
}

Result<void> Writer::recover(const ProcessTable& processes) {
    if (auto recovered = journal_.recover(read_now()); !recovered) return recovered;
    head_at_start_ = state_.heads().seq;
    first_seq_ = state_.heads().first_seq;
    std::vector<Command> survey;
    survey.emplace_back(Survey{});
    auto surveyed = journal_.commit(std::move(survey), read_now());
    if (!surveyed.replies.front()) return std::unexpected(surveyed.replies.front().error());
    first_effects_ = std::move(surveyed.effects);

    std::vector<Command> findings;
    findings.emplace_back(Announce{EventType::gateway_startup,
                                   fmt::format("knell {} started, pid {}", version, getpid())});
    std::set<std::pair<std::int32_t, std::uint64_t>> unclear;
    for (const auto& owner : std::get<SurveyReply>(*surveyed.replies.front()).owners) {
        findings.push_back(to_command(owner, look_for(owner.process, processes)));
        if (!std::holds_alternative<OwnerUnknown>(findings.back())) continue;
        unclear.emplace(owner.process.pid, owner.process.start_ticks);
    }
    // To watch these would only say again that they cannot be checked, perhaps after they have
    // shown signs of life.
    std::erase_if(first_effects_, [&](const Effect& effect) {
        const auto* watch = std::get_if<WatchOwner>(&effect);
        return watch != nullptr &&
               unclear.contains({watch->process.pid, watch->process.start_ticks});
    });
    do {
        auto step = journal_.commit(std::move(findings), read_now());
        findings.clear();
        explain(step.automatic);
        if (step.failed)
            return fail(ErrorCode::storage, "the ends of dead owners cannot be written");
        std::ranges::move(step.effects, std::back_inserter(first_effects_));
    } while (journal_.has_work_left());
    // Nothing was kept: the log begins with what was just written.
    if (first_seq_ == 0) first_seq_ = head_at_start_ + 1;
    update_figures();
    return {};
}

void Writer::start() {
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "knell-writer");
        for (auto& effect : first_effects_) carry_out_(std::move(effect));
        first_effects_.clear();
        loop();
        if (auto saved = journal_.save_all_seen(read_now()); !saved) {
            log_warn("the last signs of life were not saved: {}", saved.error().message);
        }
    });
}

void Writer::stop() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
}

bool Writer::submit(Command&& command, Done&& done) {
    Submission submission{std::move(command), std::move(done)};
    if (queue_.push(std::move(submission))) return true;
    // A push that is refused leaves its argument as it was.
    done = std::move(submission.done);  // NOLINT(bugprone-use-after-move)
    return false;
}

void Writer::submit_direct(Command&& command, Done&& done) {
    queue_.push_always({std::move(command), std::move(done), /*direct=*/true});
}

void Writer::say_goodbye(const ProcessIdentity& self) {
    const auto wait_for = [this](Command&& command) {
        std::promise<void> heard;
        submit_direct(std::move(command), [&](const Result<Reply>& reply) {
            if (!reply) log_warn("the end was not announced: {}", reply.error().message);
            heard.set_value();
        });
        heard.get_future().wait();
    };
    wait_for(OwnerGone{.process = self,
                       .departure = {.kind = Departure::Kind::stopped,
                                     .number = 0,
                                     .evidence = "the daemon was stopped on request"},
                       .leftovers = {},
                       .searched = true});
    wait_for(Announce{EventType::gateway_shutdown,
                      fmt::format("knell {} stopped on request, pid {}", version, getpid())});
}

void Writer::keep(const Retention& retention) {
    keep_count_ = retention.keep_count;
    keep_hours_ = retention.keep_for.count();
}

void Writer::observe(Command&& command) {
    queue_.push_always({std::move(command), {}});
}

std::optional<std::chrono::milliseconds> Writer::patience() const {
    if (failed_ || !unheard_.empty()) return retry_after;
    if (journal_.has_work_left()) return 0ms;
    if (trim_left_) return tick;
    if (state_.has_deadlines()) return tick;
    if (state_.open_count() > 0) return quiet_tick;
    return std::nullopt;
}

void Writer::loop() {
    std::vector<Submission> taken;
    while (queue_.pop_all(taken, patience())) {
        std::ranges::move(std::exchange(unheard_, {}), std::back_inserter(taken));
        std::span<Submission> left = taken;
        do {
            const auto size = std::min(left.size(), limits::batch_commands_max);
            commit(left.first(size));
            left = left.subspan(size);
        } while (!left.empty());
        trim_now_and_then();
        if (taken.empty() || queue_.size() > 0) continue;
        if (auto maintained = store_.maintain(); !maintained) {
            log_warn("store maintenance failed, will try again: {}", maintained.error().message);
        }
    }
}

bool Writer::has_too_many_events() const {
    return first_seq_ > 0 && state_.heads().seq - first_seq_ >= keep_count_ + trim_slack;
}

/// A few rows at a time, between groups: nobody waits for it.
void Writer::trim_now_and_then() {
    const auto now = read_clocks();
    const bool is_time = now.steady - trimmed_at_ >= trim_period;
    if (!is_time && !trim_left_ && !has_too_many_events()) return;
    trimmed_at_ = now.steady;
    const Retention retention{std::chrono::hours{keep_hours_}, keep_count_};
    int rounds = 0;
    do {
        const auto first = store_.trim_events(retention, now.wall, trim_rows);
        if (!first) {
            log_warn("old events were not let go of, will try again: {}", first.error().message);
            return;
        }
        trim_left_ = first_seq_ > 0 && *first - first_seq_ >= static_cast<Seq>(trim_rows);
        if (first_seq_ > 0 && *first > first_seq_) {
            log_info("let go of events {} to {}, as the config says: {} days, {} events",
                     first_seq_, *first - 1, keep_hours_.load() / 24, keep_count_.load());
        }
        first_seq_ = *first;
        figures_.first_seq = first_seq_;
    } while (has_too_many_events() && ++rounds < trim_rounds_max);
}

void Writer::commit(std::span<Submission> group) {
    std::vector<Command> commands;
    commands.reserve(group.size());
    std::vector<std::pair<std::size_t, Command>> observed;
    for (std::size_t i = 0; i < group.size(); ++i) {
        if (!group[i].done) observed.emplace_back(i, group[i].command);
        commands.push_back(std::move(group[i].command));
    }
    auto step = journal_.commit(std::move(commands), read_now());
    for (auto& [place, command] : observed) {
        if (!step.replies[place]) unheard_.push_back({std::move(command), {}});
    }
    if (step.failed && !failed_) {
        const auto why = std::ranges::find_if(
            step.replies, [](const auto& r) { return !r && r.error().code == ErrorCode::storage; });
        log_error("nothing was acknowledged: {}",
                  why == step.replies.end() ? "the store failed" : why->error().message);
    } else if (failed_ && !step.failed) {
        log_info("the store takes writes again");
    }
    failed_ = step.failed;
    explain(step.automatic);
    for (auto& effect : step.effects) carry_out_(std::move(effect));
    update_figures();
    std::vector<Answer> answers;
    std::vector<Answer> direct;
    answers.reserve(group.size());
    for (std::size_t i = 0; i < group.size(); ++i) {
        if (!group[i].done) continue;
        auto& kind = group[i].direct ? direct : answers;
        kind.push_back({std::move(group[i].done), std::move(step.replies[i])});
    }
    if (!answers.empty() || !step.events.empty()) {
        publish_(std::move(answers), std::move(step.events));
    }
    // Last: who waits for one of these stops delivery next, which must know of the events by then.
    for (auto& [done, reply] : direct) done(std::move(reply));
}

void Writer::update_figures() {
    const auto& counts = journal_.counts();
    for (std::size_t i = 0; i < figures_.by_status.size(); ++i) {
        figures_.by_status.at(i) = state_.count(static_cast<Status>(i));
    }
    figures_.open = state_.open_count();
    figures_.leases = state_.lease_count();
    figures_.last_seq = state_.heads().seq;
    figures_.first_seq = first_seq_;
    figures_.commits = counts.commits;
    figures_.commands = counts.commands;
    figures_.failures = counts.failures;
    figures_.heartbeats = counts.heartbeats;
    figures_.reaps = counts.reaps;
    figures_.reap_lateness_last_ms = counts.reap_lateness_last.count();
    figures_.reap_lateness_max_ms = counts.reap_lateness_max.count();
}

}  // namespace knell
