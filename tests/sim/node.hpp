#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "background.hpp"
#include "conversations.hpp"
#include "host.hpp"
#include "leftovers.hpp"
#include "sim_store.hpp"
#include "testing/faulty_disk.hpp"
#include "watch/watch_list.hpp"
#include "writer/write_step.hpp"

namespace knell::sim {

/// A daemon on a host, as far as it decides, writes and watches: the real write step on a real
/// store and the real list of watched owners, with descriptors that are the simulation's.  It can
/// be killed at any point and started again.
class Node final : public WatchList::Holder {
  public:
    /// On a disk that can be broken, or in memory, which is faster.  `on_look` is called whenever
    /// the daemon reads the clocks, `meanwhile` while a commit takes its time.  `group_max`: see
    /// WriteStep.
    Node(Host& host, bool on_disk, std::size_t group_max, std::function<void()> on_look,
         std::function<void()> meanwhile, Background::Tell tell);
    ~Node() override;

    bool is_up() const { return write_step_ != nullptr; }
    /// Gives what the recovery did; the error says why it does not start.
    Result<WriteStep::Recovered> start(SpoolAtStart& spool);
    /// From now on whoever calls is heard.
    void listen() { write_step_->listen_from_now(); }
    void kill();
    /// The host loses power; `seed` decides about writes that were not synced.
    void cut_power(std::uint64_t seed);
    void stop();
    /// What the config says of resets; and from how many tokens on a session is summed up by
    /// itself.
    void follow_policies(const PolicyBook& policies);
    void compress_at(std::int64_t tokens) { compress_at_ = tokens; }

    WriteStep& write_step() { return *write_step_; }
    Reader& reader() { return *reader_; }
    SimStore& store() { return *store_; }
    const ProcessIdentity& self() const { return self_; }

    // --- the disk ----------------------------------------------------------------------------

    void break_disk(testing::FaultyDisk::Fault fault, std::uint64_t operation, std::uint64_t times);
    void heal_disk();
    /// A fault is set and has not passed.
    bool is_disk_bad() const;
    bool is_power_gone() const;
    bool is_slow() const { return commit_takes_.count() > 0; }
    void slow_down(Host::Duration commit_takes) { commit_takes_ = commit_takes; }

    // --- the watch ---------------------------------------------------------------------------

    void carry_out(Effect&& effect);
    void watch(const ProcessIdentity& process);
    const WatchList& watching() const { return *watching_; }
    Background& background() { return *background_; }
    const Background& background() const { return *background_; }
    /// The watch thread is held up; what ends meanwhile it sees when it goes on.
    void stall_watch(Host::Duration time) { watch_goes_on_at_ = host_.elapsed() + time; }
    /// What was left behind is looked for only after that.
    void stall_leftovers(Host::Duration time) { leftovers_->stall_until(host_.elapsed() + time); }
    /// What it sees next it will say twice.
    void stutter() { stutters_ = true; }
    /// One round of the watch thread.
    void look();
    void tell_later(Input input, Host::Duration late);
    /// What the observers have to say by now.
    std::vector<Input> take_words();
    bool has_submissions() const { return !words_.empty() || background_->has_words(); }

    bool hold(WatchList::Number number, const ProcessIdentity& process, Fd&& pidfd) override;
    void release(WatchList::Number number) override { held_.erase(number); }

  private:
    struct Later {
        Host::Duration due;
        Input input;
    };
    void drop_everything();
    void begin_to_watch();

    Host& host_;
    const std::size_t group_max_;
    const std::function<void()> on_look_;
    const std::function<void()> meanwhile_;
    const Background::Tell tell_;
    std::unique_ptr<testing::FaultyDisk> disk_;
    std::unique_ptr<Store> inner_;  // without a disk it outlives the daemon
    std::unique_ptr<SimStore> store_;
    std::unique_ptr<Reader> reader_;
    std::unique_ptr<WriteStep> write_step_;
    std::shared_ptr<const ResetPolicies> policies_ = std::make_shared<const ResetPolicies>();
    std::int64_t compress_at_ = 0;
    ProcessIdentity self_;
    Host::Duration commit_takes_{0};
    int refusals_ = 0;
    bool cut_is_set_ = false;
    std::uint64_t fault_passed_at_ = 0;  // operations of the disk
    std::unique_ptr<WatchList> watching_;
    std::map<WatchList::Number, ProcessIdentity> held_;
    Host::Duration watch_goes_on_at_{0};
    bool stutters_ = false;
    std::unique_ptr<Leftovers> leftovers_;
    std::unique_ptr<Background> background_;
    std::vector<Later> words_;
};

}  // namespace knell::sim
