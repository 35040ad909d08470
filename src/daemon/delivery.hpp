#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/bounded_queue.hpp"
#include "daemon/hook_runs.hpp"
#include "daemon/hook_shortage.hpp"
#include "daemon/subscriber_config.hpp"
#include "daemon/subscriber_files.hpp"
#include "deliver/delivery_scheduler.hpp"
#include "deliver/hook/runner.hpp"
#include "deliver/saver.hpp"
#include "deliver/webhook/sender.hpp"
#include "platform/poller.hpp"
#include "rpc/backend.hpp"
#include "wire/config_report.hpp"

namespace knell {

/// The delivery thread: runs hooks and sends webhooks, one step after the other, and never waits
/// for any single one of them.  No subscriber can delay the engine or another subscriber.
class Delivery {
  public:
    /// Makes changes durable, then calls back, on any thread.
    using Save =
        std::function<void(std::vector<DeliveryChange>, std::move_only_function<void(bool saved)>)>;
    using Answered = rpc::Done<rpc::HooksReply>;
    /// Puts a notice on record.
    using Notify = std::function<void(std::string)>;

    struct Dependencies {
        std::unique_ptr<Reader> reader;
        Save save;
        Notify notify;
        /// Read anew by the delivery thread, which watches the files.
        ConfigHolder& config;
        std::size_t hooks_max = std::numeric_limits<std::size_t>::max();  // run at once
    };

    /// `head`: the newest event before this daemon's own first one.
    Delivery(const Paths& paths, std::string node_id, Seq head, Dependencies dependencies);
    ~Delivery() { stop(); }

    Result<void> recover() { return scheduler_.recover(*dependencies_.reader); }
    void start();
    /// What the thread does between two waits: for tests, which then do not `start`.
    void step(Now now);
    /// Gives what is due a moment, ends what still runs, saves, and ends the thread.  Saving must
    /// still work.
    void stop();

    /// Any thread: there are events up to here.
    void wake(Seq head);
    /// Any thread: reads config.yaml and the hooks again.
    void reload_soon();
    /// The same at once, and what has changed since this was last asked, or since the start: most
    /// changes were noticed by themselves before.  `done` is called on the delivery thread.
    void reload_now(std::move_only_function<void(ReloadReport)> done);
    /// Any thread: why changed files are noticed late; "" when they are not.
    std::string file_watch_trouble() const { return files_.trouble(); }
    /// Any thread: why hooks wait to be started; "" when they do not.
    std::string hook_shortage() const { return shortage_.text(); }
    /// Any thread: `done` is called on the delivery thread.
    void ask(rpc::HooksCall call, Answered done);

  private:
    using Work = std::move_only_function<void(Now)>;
    struct Begun : DeliveryScheduler::Attempt {
        SteadyTime begun;
    };

    void loop();
    void wait(Now now);
    void post(Work work);
    /// `is_asked`: somebody waits who may have changed something.
    void notice_changes(Now now, bool is_asked);
    void reload_when_changed(Now now);
    ConfigHolder::Reload reload(Now now);
    void begin(const DeliveryScheduler::Attempt& attempt, Now now);
    void begin_on(const std::string& name, AttemptId id, const RenderedEventRef& rendered, Now now,
                  HookRunner::IfShort if_short);
    void collect(std::vector<Finished> finished, Now now);
    /// In the log, before the scheduler hears of it.
    void explain(const DeliveryScheduler::Attempt& attempt, const Outcome& outcome) const;
    void remember(const Begun& attempt, const Outcome& outcome, Now now);
    void save(Now now);
    bool is_save_awaited() const { return !unanswered_.empty() || !after_saving_.empty(); }
    bool may_read(Now now) const;
    bool is_done(Now now) const;

    void answer(rpc::HooksCall call, Answered done, Now now);
    Result<rpc::HooksReply> carry_out(const rpc::HooksCall& call, Now now);
    Result<rpc::HooksReply> retry_all(Now now);
    std::unexpected<Error> nobody(const std::string& name) const;
    void test(const std::string& name, Answered done, Now now);

    // Constant after construction.
    const std::string hooks_dir_;
    const std::string node_id_;

    // Any thread.
    BoundedQueue<Work> inbox_;
    std::atomic<Seq> head_;
    std::atomic<bool> stopping_ = false;
    std::atomic<bool> has_listeners_ = true;  // somebody is to hear what is committed
    std::atomic<bool> woken_ = false;         // since the thread last looked
    Poller poller_;                           // only `wake` is for any thread
    SubscriberFiles files_;                   // only `trouble` is for any thread
    HookShortage shortage_;                   // only `text` is for any thread

    // The delivery thread's alone.
    HookRuns runs_;
    Dependencies dependencies_;
    DeliveryScheduler scheduler_;
    SubscriberConfig subscriber_config_;
    std::shared_ptr<const Config> told_config_;  // whose changes nobody need be told again
    HookRunner hooks_;
    WebhookSender webhooks_;
    std::optional<SteadyTime> reload_at_;
    std::optional<SteadyTime> look_again_at_;  // something could not be used
    SteadyTime read_again_at_{};               // the store said no
    Seq changed_at_ = 0;                       // the newest event when a change of files was seen
    std::map<AttemptId, Begun> attempts_;
    struct Test {
        Answered done;
        SteadyTime begun;
    };
    std::map<AttemptId, Test> tests_;
    AttemptId last_test_ = 0;
    Saver saver_;
    std::optional<SteadyTime> stop_at_;
    /// Calls that wait for the next save.
    struct Waiting {
        rpc::HooksCall call;
        Answered done;
    };
    std::vector<Waiting> after_saving_;
    /// Answers to what is done but not durable yet.
    struct Unanswered {
        Answered done;
        rpc::HooksReply result;
    };
    std::vector<Unanswered> unanswered_;

    std::thread thread_;
};

}  // namespace knell
