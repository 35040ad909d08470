#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/desk.hpp"
#include "host.hpp"
#include "leftovers.hpp"
#include "sim_store.hpp"
#include "testing/faulty_disk.hpp"

namespace knell::sim {

/// A daemon on a host, as far as it decides and writes: the real desk on a real store, with a watch
/// that stands for the pidfds.  It can be killed at any point and started again.
class Node {
  public:
    /// On a disk that can be broken, or in memory, which is faster.  `on_look` is called whenever
    /// the daemon reads the clocks.
    Node(Host& host, bool on_disk, std::function<void()> on_look, Leftovers::OnSignal on_signal);
    ~Node();

    bool is_up() const { return desk_ != nullptr; }
    /// Gives what the recovery did; the error says why it does not start.
    Result<Desk::Recovered> start();
    void kill();
    /// The host loses power; `seed` decides about writes that were not synced.
    void cut_power(std::uint64_t seed);
    void stop();

    Desk& desk() { return *desk_; }
    Reader& reader() { return *reader_; }
    SimStore& store() { return *store_; }
    const ProcessIdentity& self() const { return self_; }

    // --- the disk ----------------------------------------------------------------------------

    void break_disk(testing::FaultyDisk::Fault fault, std::uint64_t operation, std::uint64_t times);
    void heal_disk();
    /// A fault is set and has not passed.
    bool is_disk_bad() const;
    bool is_power_gone() const;
    void slow_down(Host::Duration commit_takes) { commit_takes_ = commit_takes; }

    // --- the watch ---------------------------------------------------------------------------

    void carry_out(Effect&& effect);
    void watch(const ProcessIdentity& process);
    /// A process has ended.  If it is watched that will be said after a while, perhaps twice.
    void see_end(const Host::Process& process, Host::Duration late, bool twice);
    void tell_later(Command command, Host::Duration late);
    /// What the observers have to say by now.
    std::vector<Command> take_words();
    bool has_words() const { return !words_.empty(); }

  private:
    struct Later {
        Host::Duration due;
        Command command;
    };
    void drop_everything();

    Host& host_;
    const std::function<void()> on_look_;
    const Leftovers::OnSignal on_signal_;
    std::unique_ptr<testing::FaultyDisk> disk_;
    std::unique_ptr<Store> inner_;  // without a disk it outlives the daemon
    std::unique_ptr<SimStore> store_;
    std::unique_ptr<Reader> reader_;
    std::unique_ptr<Desk> desk_;
    ProcessIdentity self_;
    Host::Duration commit_takes_{0};
    int refusals_ = 0;
    bool cut_is_set_ = false;
    std::uint64_t fault_passed_at_ = 0;  // operations of the disk
    std::vector<ProcessIdentity> watched_;
    std::unique_ptr<Leftovers> leftovers_;
    std::vector<Later> words_;
};

}  // namespace knell::sim
