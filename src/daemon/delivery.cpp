#include "daemon/delivery.hpp"

#include <algorithm>
#include <bit>
#include <future>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>

#include "config/config_changes.hpp"
#include "config/nearest_word.hpp"
#include "core/limits.hpp"
#include "daemon/config_problems.hpp"
#include "daemon/hooks_report.hpp"
#include "daemon/orphan_log.hpp"
#include "platform/clock.hpp"
#include "platform/log.hpp"
#include "platform/marked_run.hpp"
#include "summarize/launch.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// A file that was changed is read after this much quiet: it may be one of several.
constexpr auto settle_time = 50ms;
/// What could not be used is looked at again: what was wrong may have been put right in a place
/// that nobody watches, such as the modes of a directory on the way to a program.
constexpr auto look_again_after = 5s;
/// The store said no.
constexpr auto read_again_after = 1s;
/// How long a stop waits for what is due, `gateway:shutdown` above all.
constexpr auto drain_timeout = 3s;
constexpr auto wait_max = 60s;
/// Tests have numbers of their own: the scheduler knows nothing of them.
constexpr AttemptId first_test = AttemptId{1} << 63U;

/// The first failures of a streak, then ever fewer.
bool is_worth_a_line(int streak) {
    return streak <= 3 || std::has_single_bit(static_cast<unsigned>(streak));
}

}  // namespace

Delivery::Delivery(const Paths& paths, std::string node_id, Seq head, Dependencies dependencies)
    : hooks_dir_(paths.hooks_dir),
      node_id_(std::move(node_id)),
      inbox_(limits::queue_reads_max),
      head_(head),
      files_(paths),
      runs_(runs_folder(paths)),
      dependencies_(std::move(dependencies)),
      scheduler_(node_id_, head),
      told_config_(dependencies_.config.current()),
      hooks_(node_id_, dependencies_.hooks_max),
      webhooks_(node_id_),
      last_test_(first_test) {}

void Delivery::start() {
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "knell-deliver");
        loop();
    });
}

void Delivery::stop() {
    stopping_ = true;
    poller_.wake();
    if (thread_.joinable()) thread_.join();
}

void Delivery::wake(Seq head) {
    head_ = head;
    // A wake-up for nobody, or the tenth in a row, would be paid by every commit.
    if (has_listeners_ && !woken_.exchange(true)) poller_.wake();
}

void Delivery::post(Work work) {
    inbox_.push_always(std::move(work));
    poller_.wake();
}

void Delivery::ask(rpc::HooksCall call, Answered done) {
    post([this, call = std::move(call), done = std::move(done)](Now now) mutable {
        answer(std::move(call), std::move(done), now);
    });
}

void Delivery::reload_soon() {
    post([this](Now now) {
        if (!reload_at_) changed_at_ = scheduler_.head();
        reload_at_ = now.steady;
    });
}

void Delivery::reload_now(std::move_only_function<void(ReloadReport)> done) {
    post([this, done = std::move(done)](Now now) mutable {
        if (!reload_at_) changed_at_ = scheduler_.head();
        reload_at_.reset();
        const auto reloaded = reload(now);
        const auto before = std::exchange(told_config_, reloaded.config);
        ReloadReport report{.is_taken = reloaded.is_taken(),
                            .changes = config_changes(before->settings, reloaded.config->settings),
                            .problems = {}};
        for (const auto& problem : reloaded.problems) add_problem(report.problems, problem);
        for (const auto& problem : subscriber_config_.hook_problems()) {
            add_problem(report.problems, problem);
        }
        done(std::move(report));
    });
}

// --- the loop -----------------------------------------------------------------------------------

void Delivery::loop() {
    changed_at_ = scheduler_.head();
    // Before anything is tried again: a hook never runs beside the run that was cut off.
    log_orphans(hooks_.stop_orphans(), "hook");
    // Here, because no caller waits for this thread.
    log_orphans(stop_marked_orphans(summary_run_variable, node_id_), "provider");
    reload(read_clocks());
    for (;;) {
        const auto now = read_clocks();
        step(now);
        if (stopping_ && is_done(now)) break;
        wait(now);
    }
    hooks_.cancel_all();
    for (const auto& [id, attempt] : attempts_) webhooks_.cancel(id);
    for (auto& [id, test] : tests_) {
        test.done(fail(ErrorCode::internal, "the daemon stops; test it again when it is back"));
    }
    std::vector<Work> work;
    while (saver_.is_saving() && inbox_.pop_all(work)) {
        for (auto& one : work) one(read_clocks());
    }
    for (auto& [done, result] : unanswered_) done(std::move(result));
    runs_.save_all();
    auto left = saver_.take_rest(scheduler_);
    if (left.empty()) return;
    std::promise<bool> saved;
    dependencies_.save(std::move(left), [&saved](bool ok) { saved.set_value(ok); });
    if (!saved.get_future().get()) {
        log_warn("delivery progress was not saved; subscribers get some events again");
    }
}

void Delivery::step(Now now) {
    woken_ = false;
    std::vector<Work> work;
    inbox_.pop_all(work, 0ms);
    // Now: who asks how far a hook is means all that has happened until then.
    scheduler_.set_head(head_);
    for (auto& one : work) one(now);
    reload_when_changed(now);
    if (may_read(now)) {
        if (auto read = scheduler_.read(*dependencies_.reader, now); !read) {
            log_warn("the log of events cannot be read for hooks: {}", read.error().message);
            read_again_at_ = now.steady + read_again_after;
        }
    }
    for (const auto& attempt : scheduler_.due(now)) {
        begin(attempt, now);
        // Starting a process takes its time, and many may be due: no receiver is to wait for them,
        // nor be blamed for a connection that we were late to look at.
        webhooks_.step();
    }
    hooks_.step(now.steady);
    webhooks_.step();
    collect(hooks_.take_finished(), now);
    collect(webhooks_.take_finished(), now);
    shortage_.tell(hooks_.shortage(), hooks_.waiting());
    for (auto& notice : scheduler_.take_notices()) {
        log_warn("{}", notice);
        dependencies_.notify(std::move(notice));
    }
    save(now);
    runs_.save(now.steady);
}

void Delivery::wait(Now now) {
    Awaited awaited;
    hooks_.add_descriptors(awaited.descriptors);
    webhooks_.add_descriptors(awaited.descriptors);
    awaited.descriptors.push_back({.fd = files_.descriptor(), .events = POLLIN, .revents = 0});
    awaited.no_later_than(now.steady + wait_max);
    awaited.no_later_than(scheduler_.next_try());
    awaited.no_later_than(hooks_.next_deadline());
    if (const auto most = webhooks_.max_wait()) awaited.no_later_than(now.steady + *most);
    awaited.no_later_than(reload_at_);
    awaited.no_later_than(look_again_at_);
    awaited.no_later_than(files_.next_look());
    awaited.no_later_than(stop_at_);
    awaited.no_later_than(runs_.next_save());
    awaited.no_later_than(saver_.next_save(scheduler_, is_save_awaited(), now.steady));
    if (scheduler_.is_behind()) awaited.no_later_than(read_again_at_);
    const bool has_news = has_listeners_ && head_ > scheduler_.head();
    if (inbox_.size() > 0 || has_news) awaited.no_later_than(now.steady);
    poller_.wait(std::move(awaited), now.steady);
}

bool Delivery::may_read(Now now) const {
    return scheduler_.is_behind() && now.steady >= read_again_at_;
}

bool Delivery::is_done(Now now) const {
    if (stop_at_ && now.steady >= *stop_at_) return true;
    // The last event may have come after this step looked.
    if (head_ > scheduler_.head()) return false;
    const auto next = scheduler_.next_try();
    return attempts_.empty() && !scheduler_.is_behind() && (!next || *next > now.steady);
}

// --- who is there -------------------------------------------------------------------------------

void Delivery::notice_changes(Now now, bool is_asked) {
    if (!files_.take_change(now.steady, is_asked)) return;
    // Who is new hears what came after its file was there, not after we had read it.
    if (!reload_at_) changed_at_ = scheduler_.head();
    reload_at_ = now.steady + settle_time;
}

void Delivery::reload_when_changed(Now now) {
    if (stopping_ && !stop_at_) stop_at_ = now.steady + drain_timeout;
    notice_changes(now, /*is_asked=*/false);
    if (look_again_at_ && now.steady >= *look_again_at_ && !reload_at_) {
        changed_at_ = scheduler_.head();
        reload_at_ = now.steady;
    }
    if (!reload_at_ || now.steady < *reload_at_) return;
    reload_at_.reset();
    reload(now);
}

ConfigHolder::Reload Delivery::reload(Now now) {
    files_.watch();
    auto reloaded = dependencies_.config.reload();
    if (!reloaded.changes.empty())
        log_info("config reloaded: {}", fmt::join(reloaded.changes, "; "));
    for (const auto& problem : subscriber_config_.reload(reloaded, hooks_dir_)) {
        log_error("{}: {}", problem.name, problem.message);
    }
    for (const auto attempt :
         scheduler_.set_subscribers(subscriber_config_.specs(), now, changed_at_)) {
        attempts_.erase(attempt);
        hooks_.cancel(attempt);
        webhooks_.cancel(attempt);
    }
    has_listeners_ = !subscriber_config_.specs().empty();
    look_again_at_.reset();
    if (!subscriber_config_.problems().empty()) look_again_at_ = now.steady + look_again_after;
    return reloaded;
}

// --- attempts -----------------------------------------------------------------------------------

void Delivery::begin(const DeliveryScheduler::Attempt& attempt, Now now) {
    attempts_.emplace(attempt.id, Begun{attempt, now.steady});
    begin_on(attempt.subscriber, attempt.id, attempt.rendered, now, HookRunner::IfShort::wait);
}

void Delivery::begin_on(const std::string& name, AttemptId id, const RenderedEventRef& rendered,
                        Now now, HookRunner::IfShort if_short) {
    if (const auto* hook = subscriber_config_.hook(name)) {
        hooks_.start(id, *hook, rendered, now.steady, if_short);
    } else if (const auto* webhook = subscriber_config_.webhook(name)) {
        webhooks_.start(id, *webhook, *rendered, now.wall);
    }
}

void Delivery::collect(std::vector<Finished> finished, Now now) {
    for (auto& [id, outcome] : finished) {
        if (auto test = tests_.extract(id)) {
            const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
                read_clocks().steady - test.mapped().begun);
            test.mapped().done(
                rpc::HookTestReport{.delivered = outcome.kind == Outcome::Kind::delivered,
                                    .took = took,
                                    .what = outcome.what,
                                    .output = outcome.output});
            continue;
        }
        const auto attempt = attempts_.find(id);
        if (attempt == attempts_.end()) continue;
        explain(attempt->second, outcome);
        remember(attempt->second, outcome, now);
        scheduler_.finish(id, outcome, now);
        attempts_.erase(attempt);
    }
}

void Delivery::explain(const DeliveryScheduler::Attempt& attempt, const Outcome& outcome) const {
    const auto streak = scheduler_.failing_streak(attempt.subscriber);
    const auto& rendered = *attempt.rendered;
    if (outcome.kind == Outcome::Kind::delivered) {
        if (streak > 0) {
            log_info("delivery to {} works again after {} failures", attempt.subscriber, streak);
        }
    } else if (is_worth_a_line(streak + 1)) {
        log_warn(
            "{} failed to take event {} ({}): {}; it is tried again later. `knell hooks ls` "
            "shows how it goes",
            attempt.subscriber, rendered.seq, rendered.type, outcome.what);
    }
}

void Delivery::remember(const Begun& attempt, const Outcome& outcome, Now now) {
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(read_clocks().steady - attempt.begun);
    if (subscriber_config_.hook(attempt.subscriber) == nullptr) return;
    runs_.add(attempt.subscriber,
              run_text({.seq = attempt.rendered->seq,
                        .type = attempt.rendered->type,
                        .session_id = attempt.rendered->session_id,
                        .at = now.wall,
                        .took = took,
                        .outcome = outcome}),
              now.steady);
}

void Delivery::save(Now now) {
    if (!saver_.is_time(scheduler_, is_save_awaited(), now.steady)) return;
    auto answers = std::make_shared<std::vector<Unanswered>>(std::exchange(unanswered_, {}));
    auto calls = std::make_shared<std::vector<Waiting>>(std::exchange(after_saving_, {}));
    dependencies_.save(saver_.begin(scheduler_, now.steady), [this, answers, calls](bool saved) {
        post([this, saved, answers, calls](Now at) {
            saver_.finish(saved);
            for (auto& [call, done] : *calls) done(carry_out(call, at));
            for (auto& [done, result] : *answers) {
                if (saved) {
                    done(std::move(result));
                } else {
                    done(fail(ErrorCode::storage,
                              "done, but it could not be saved: it may be undone by a restart"));
                }
            }
        });
    });
}

// --- what people ask ----------------------------------------------------------------------------

void Delivery::answer(rpc::HooksCall call, Answered done, Now now) {
    using Verb = rpc::HooksCall::Verb;
    // Who has just written a file and asks about it means what is in it now.
    notice_changes(now, /*is_asked=*/true);
    const bool was_changed = std::exchange(reload_at_, std::nullopt).has_value();
    if (was_changed || !subscriber_config_.problems().empty()) reload(now);
    // A dead letter is sent again from the store, so it must be there.
    const bool must_be_saved = call.verb == Verb::retry;
    if (must_be_saved && !saver_.is_all_saved(scheduler_)) {
        after_saving_.push_back({std::move(call), std::move(done)});
        return;
    }
    if (call.verb == Verb::test) return test(call.name, std::move(done), now);
    auto result = carry_out(call, now);
    const bool must_last =
        call.verb == Verb::pause || call.verb == Verb::resume || call.verb == Verb::forget;
    if (!result || !must_last) return done(std::move(result));
    unanswered_.push_back({std::move(done), std::move(*result)});
}

Result<rpc::HooksReply> Delivery::carry_out(const rpc::HooksCall& call, Now now) {
    using Verb = rpc::HooksCall::Verb;
    if (call.verb == Verb::list)
        return report_hooks(scheduler_.report(now), subscriber_config_, now);
    if (call.verb == Verb::retry && call.name.empty()) return retry_all(now);
    if (call.verb == Verb::forget) {
        switch (scheduler_.forget(call.name)) {
            case DeliveryScheduler::Forgetting::forgotten:
                return rpc::HookForgotten{call.name};
            case DeliveryScheduler::Forgetting::still_there:
                return fail(ErrorCode::blocked,
                            fmt::format("{} is still there: remove its directory, or its entry in "
                                        "the config, first",
                                        call.name));
            case DeliveryScheduler::Forgetting::unknown:
                return nobody(call.name);
        }
    }
    if (!scheduler_.knows(call.name)) return nobody(call.name);
    if (call.verb == Verb::retry) {
        const auto due = scheduler_.retry(call.name, *dependencies_.reader, now);
        if (!due) return std::unexpected(due.error());
        return rpc::HooksRetried{*due};
    }
    if (call.verb == Verb::pause) scheduler_.pause(call.name);
    if (call.verb == Verb::resume) scheduler_.resume(call.name, now);
    return rpc::HookStateReport{call.name, std::string(scheduler_.state_of(call.name))};
}

Result<rpc::HooksReply> Delivery::retry_all(Now now) {
    std::size_t all = 0;
    for (const auto& spec : subscriber_config_.specs()) {
        const auto due = scheduler_.retry(spec.name, *dependencies_.reader, now);
        if (!due) return std::unexpected(due.error());
        all += *due;
    }
    return rpc::HooksRetried{all};
}

std::unexpected<Error> Delivery::nobody(const std::string& name) const {
    for (const auto& problem : subscriber_config_.problems()) {
        if (problem.name != name) continue;
        return fail(ErrorCode::not_found,
                    fmt::format("{} cannot be used: {}", name, problem.message));
    }
    if (scheduler_.is_absent(name)) {
        return fail(ErrorCode::not_found,
                    fmt::format("the directory or config entry of {} is gone; put it back, or drop "
                                "what is kept for it with `knell hooks forget {}`",
                                name, name));
    }
    std::vector<std::string> known;
    for (const auto& spec : subscriber_config_.specs()) known.push_back(spec.name);
    const auto meant = nearest_word(name, known);
    return fail(ErrorCode::not_found,
                fmt::format("no hook or webhook {}; {}`knell hooks ls` lists them", name,
                            meant.empty() ? "" : fmt::format("did you mean {}? ", meant)));
}

void Delivery::test(const std::string& name, Answered done, Now now) {
    if (!scheduler_.knows(name)) return done(nobody(name));
    const auto* hook = subscriber_config_.hook(name);
    const auto& events = hook != nullptr ? hook->events : subscriber_config_.webhook(name)->events;
    const auto rendered = std::make_shared<const RenderedEvent>(
        sample_event(events, node_id_, ++last_test_ - first_test, now));
    tests_.emplace(last_test_, Test{std::move(done), now.steady});
    begin_on(name, last_test_, rendered, now, HookRunner::IfShort::fail);
}

}  // namespace knell
