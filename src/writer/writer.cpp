#include "writer/writer.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "core/limits.hpp"
#include "platform/clock.hpp"
#include "platform/log.hpp"
#include "platform/version.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// Acts explained one by one in a step; more are summed up.
constexpr std::size_t explained_max = 100;

AwakeClock::Readings read_all_clocks() {
    const auto clocks = read_clocks();
    return {clocks.wall, read_awake_clock(), clocks.steady};
}

using Replies = std::span<const Result<Reply>>;

bool was_closed_by_a_call(const Event& event, Replies replies) {
    return std::ranges::any_of(replies, [&event](const Result<Reply>& reply) {
        const auto* closed = reply ? std::get_if<ClosedReply>(&*reply) : nullptr;
        return closed != nullptr && !closed->already_ended &&
               closed->generation == event.generation && closed->session_id == event.session_id;
    });
}

/// What came of a call, and who called did not ask for it: a message finds that its session is past
/// its policy, or that whoever owned it has died.
bool was_not_asked_for(const Event& event, Replies replies) {
    if (event.type == EventType::session_reset_deferred) return true;
    if (!event.end || event.end->proof == Proof::declared) return false;
    return !was_closed_by_a_call(event, replies);
}

/// Nobody asked for what comes from `automatic_from` on.
void explain(std::span<const Event> events, std::size_t automatic_from, Replies replies) {
    std::size_t told = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const auto& event = events[i];
        if (i < automatic_from && !was_not_asked_for(event, replies)) continue;
        if (event.type == EventType::agent_end) continue;
        if (++told > explained_max) continue;
        if (event.end) {
            log_info("ended session {} generation {}: {} ({}){}{}; {}", event.session_id.text(),
                     event.generation, name_of(event.end->reason),
                     name_in(proof_names, event.end->proof), event.end->detail.empty() ? "" : ": ",
                     event.end->detail, event.end->evidence);
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

Writer::Writer(Store& store, const ConfigHolder& config, Publish publish, CarryOut carry_out,
               WatchedUntil watched_until)
    : store_(store),
      config_(config),
      publish_(std::move(publish)),
      carry_out_(std::move(carry_out)),
      watched_until_(std::move(watched_until)),
      queue_(limits::queue_commands_max,
             [](Queued& queued) { queued.arrived = read_all_clocks(); }),
      write_step_(store_, read_all_clocks) {}

Writer::~Writer() {
    stop();
}

Result<void> Writer::recover(const ProcessTable& processes, LeftoverFinder& leftovers,
                             SpoolAtStart& spool) {
    write_step_.set_turn_window(config_.current()->http.turn_window);
    // Not the reset policies: a death that nobody saw comes first, and the step that makes a reset
    // explains it.
    auto recovered = write_step_.recover(
        processes, leftovers, spool, fmt::format("knell {} started, pid {}", version, getpid()));
    if (!recovered) return std::unexpected(recovered.error());
    first_effects_ = std::move(recovered->effects);
    explain(recovered->automatic, /*automatic_from=*/0, {});
    update_figures();
    return {};
}

void Writer::start() {
    write_step_.listen_from_now();
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "knell-writer");
        for (auto& effect : first_effects_) carry_out_(std::move(effect));
        first_effects_.clear();
        loop();
        if (auto saved = write_step_.save_all_seen(); !saved) {
            log_warn("the last signs of life were not saved: {}", saved.error().message);
        }
    });
}

void Writer::stop() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
}

bool Writer::submit(Input&& input, Done&& done) {
    Queued queued{std::move(input), std::move(done)};
    // A crowd of writers must not keep signs of life from being heard.
    const bool is_beat = as<Heartbeat>(queued.input) != nullptr;
    const auto reserve = is_beat ? limits::queue_beats_reserve : 0;
    if (queue_.push(std::move(queued), reserve)) return true;
    // A push that is refused leaves its argument as it was.
    done = std::move(queued.done);  // NOLINT(bugprone-use-after-move)
    return false;
}

void Writer::submit_direct(Input&& input, Done&& done) {
    queue_.push_always({std::move(input), std::move(done), /*direct=*/true});
}

void Writer::announce_shutdown(const ProcessIdentity& self, std::string_view why) {
    const auto wait_for = [this](Observation&& observation) {
        std::promise<void> heard;
        submit_direct(std::move(observation), [&](const Result<Reply>& reply) {
            if (!reply) log_warn("gateway:shutdown was not recorded: {}", reply.error().message);
            heard.set_value();
        });
        heard.get_future().wait();
    };
    wait_for(OwnerGone{.process = self,
                       .departure = {.kind = Departure::Kind::stopped,
                                     .number = 0,
                                     .evidence = fmt::format("the daemon was stopped {}", why)},
                       .found = {},
                       .searched = true});
    wait_for(Announce{EventType::gateway_shutdown,
                      fmt::format("knell {} stopped {}, pid {}", version, why, getpid())});
}

void Writer::observe(Observation&& observation) {
    queue_.push_always({std::move(observation), {}});
}

void Writer::follow_config() {
    const auto config = config_.current();
    write_step_.set_reset_policies(config->reset_policies);
    write_step_.set_compress_at(config->summarizer.at_tokens);
    write_step_.set_guard_policy(config->guard);
}

void Writer::loop() {
    std::vector<Queued> taken;
    AwakeClock::Readings until;
    index_messages();  // what the daemon before did not come to
    for (;;) {
        // Before the queue is emptied: an end that is told afterwards happened after that.
        const auto watched_until = watched_until_();
        if (!queue_.pop_all(taken, write_step_.max_wait(), [&] { until = read_all_clocks(); }))
            return;
        write_step_.note_watched_until(watched_until);
        follow_config();
        std::vector<WriteStep::Submission> words;
        words.reserve(taken.size());
        for (auto& queued : taken) {
            words.push_back({std::move(queued.input), /*observed=*/!queued.done, queued.arrived});
        }
        write_step_.take(std::move(words), until);
        std::span<Queued> left = taken;
        do left = commit(left);
        while (!left.empty());
        trim();
        index_messages();
        if (taken.empty() || queue_.size() > 0) continue;
        if (auto maintained = store_.maintain(); !maintained) {
            log_warn("store maintenance failed, will try again: {}", maintained.error().message);
        }
    }
}

void Writer::index_messages() {
    const auto indexed = write_step_.index_messages();
    if (!indexed && !index_failing_) {
        log_warn(
            "cannot put messages into the search index, will try again; searches find them, but "
            "take longer: {}",
            indexed.error().message);
    }
    index_failing_ = !indexed;
}

void Writer::trim() {
    const auto retention = config_.current()->events;
    const auto trimmed = write_step_.trim(retention);
    if (!trimmed) {
        log_warn("cannot delete old events, will try again: {}", trimmed.error().message);
    } else if (*trimmed) {
        log_info("deleted events {} to {} (retention: {} days, {} events)", (*trimmed)->from,
                 (*trimmed)->to, retention.keep_for.count() / 24, retention.keep_count);
        figures_.first_seq = write_step_.first_seq();
    }
}

std::span<Writer::Queued> Writer::commit(std::span<Queued> taken) {
    const bool was_failing = write_step_.is_failing();
    auto step = write_step_.step();
    const auto group = taken.first(step.replies.size());
    if (step.failed && !was_failing) {
        log_error("commit failed; callers got \"storage\": {}", step.why_failed);
    } else if (was_failing && !step.failed) {
        log_info("the store takes writes again");
    }
    for (const auto& conflict : step.conflicts) {
        log_error("another program wrote to the store: {}", conflict);
    }
    if (step.failed || was_failing) {
        const Lock lock(failing_mutex_);
        why_failing_ = step.why_failed;
    }
    explain(step.events, step.automatic_from, step.replies);
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
    return taken.subspan(group.size());
}

std::string Writer::why_failing() const {
    const Lock lock(failing_mutex_);
    return why_failing_;
}

GuardCounts Writer::tool_counts() const {
    const Lock lock(tools_mutex_);
    return tools_;
}

void Writer::update_figures() {
    const auto& counts = write_step_.counts();
    for (std::size_t i = 0; i < figures_.by_status.size(); ++i) {
        figures_.by_status.at(i) = write_step_.state().count(static_cast<Status>(i));
    }
    figures_.open = write_step_.state().open_count();
    figures_.held_resets = write_step_.state().held_reset_count();
    for (std::size_t i = 0; i < figures_.processes.size(); ++i) {
        figures_.processes.at(i) =
            write_step_.state().processes().count(static_cast<ProcessActivity>(i));
    }
    figures_.leases = write_step_.state().lease_count();
    figures_.last_seq = write_step_.state().heads().seq;
    figures_.first_seq = write_step_.first_seq();
    figures_.commits = counts.commits;
    figures_.commands = counts.commands;
    figures_.failures = counts.failures;
    figures_.heartbeats = counts.heartbeats;
    figures_.reaps = counts.reaps;
    figures_.reap_lateness_last_ms = counts.reap_lateness_last.count();
    figures_.reap_lateness_max_ms = counts.reap_lateness_max.count();
    const Lock lock(tools_mutex_);
    tools_ = counts.tools;
}

}  // namespace knell
