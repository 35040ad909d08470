#include "node.hpp"

#include <algorithm>
#include <utility>

#include "store/memory/memory_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tools.hpp"
#include "watch/process_check.hpp"

namespace knell::sim {

using testing::FaultyDisk;

Node::Node(Host& host, bool on_disk, std::size_t group_max, std::function<void()> on_look,
           std::function<void()> meanwhile, Background::Tell tell)
    : host_(host),
      group_max_(group_max),
      on_look_(std::move(on_look)),
      meanwhile_(std::move(meanwhile)),
      tell_(std::move(tell)) {
    if (on_disk) {
        disk_ = std::make_unique<FaultyDisk>();
    } else {
        inner_ = make_memory_store();
    }
}

Node::~Node() {
    drop_everything();
}

Result<WriteStep::Recovered> Node::start(SpoolAtStart& spool) {
    if (disk_) {
        auto opened = sqlite::open_store({.path = "knell.db", .vfs = disk_->vfs()});
        if (!opened) return std::unexpected(opened.error());
        inner_ = std::move(*opened);
    }
    store_ = std::make_unique<SimStore>(*inner_, host_, meanwhile_);
    store_->refusals = std::exchange(refusals_, 0);
    store_->commit_takes = commit_takes_;
    auto reader = store_->open_reader();
    if (!reader) return std::unexpected(reader.error());
    reader_ = std::move(*reader);
    write_step_ = std::make_unique<WriteStep>(
        *store_,
        [this] {
            on_look_();
            return host_.readings();
        },
        group_max_);
    write_step_->set_reset_policies(policies_);
    write_step_->set_compress_at(compress_at_);
    write_step_->set_guard_policy(guard_policy());
    begin_to_watch();
    self_ = host_.start();
    leftovers_ = std::make_unique<Leftovers>(host_, tell_.signal);
    background_ = std::make_unique<Background>(host_, self_, tell_);
    return write_step_->recover(host_, *leftovers_, spool, "started");
}

void Node::drop_everything() {
    // Closing must not write: this stands for a process that is no more.
    if (disk_) disk_->fail_at(1, FaultyDisk::Fault::power_cut);
    write_step_.reset();
    reader_.reset();
    store_.reset();
    if (disk_) inner_.reset();
    watching_.reset();
    held_.clear();
    watch_goes_on_at_ = Host::Duration{0};
    stutters_ = false;
    background_.reset();
    leftovers_.reset();
    words_.clear();
    cut_is_set_ = false;
    fault_passed_at_ = 0;
    if (auto* self = host_.find(self_); self != nullptr && self->alive) {
        host_.end(*self, {.kind = Departure::Kind::lost}, /*is_waited_for=*/true);
    }
}

void Node::kill() {
    drop_everything();
    if (disk_) disk_->restore_all();
}

void Node::cut_power(std::uint64_t seed) {
    drop_everything();
    if (disk_) disk_->restore_power(seed);
}

void Node::follow_policies(const PolicyBook& policies) {
    policies_ = std::make_shared<const ResetPolicies>(policies.base, policies.overrides);
    if (write_step_) write_step_->set_reset_policies(policies_);
}

void Node::stop() {
    write_step_->save_all_seen();
    kill();
}

// --- the disk -----------------------------------------------------------------------------------

void Node::break_disk(FaultyDisk::Fault fault, std::uint64_t operation, std::uint64_t times) {
    if (!disk_) {
        if (fault == FaultyDisk::Fault::power_cut) return;
        (store_ ? store_->refusals : refusals_) = static_cast<int>(times);
        return;
    }
    disk_->fail_at(operation, fault, times);
    cut_is_set_ = fault == FaultyDisk::Fault::power_cut;
    fault_passed_at_ = disk_->operations() + operation + times;
}

void Node::heal_disk() {
    if (disk_) disk_->heal();
    refusals_ = 0;
    commit_takes_ = Host::Duration{0};
    cut_is_set_ = false;
    fault_passed_at_ = 0;
    if (!store_) return;
    store_->refusals = 0;
    store_->commit_takes = Host::Duration{0};
}

bool Node::is_disk_bad() const {
    if (!disk_) return refusals_ > 0 || (store_ && store_->refusals > 0);
    return cut_is_set_ || disk_->operations() < fault_passed_at_;
}

bool Node::is_power_gone() const {
    return disk_ && cut_is_set_ && disk_->fault_struck();
}

// --- the watch ----------------------------------------------------------------------------------

void Node::begin_to_watch() {
    const auto now = Host::Duration{0};
    watching_ = std::make_unique<WatchList>(
        host_, *this,
        WatchList::Tell{
            .gone =
                [this, now](const ProcessIdentity& process, const Departure& departure) {
                    tell_later(OwnerGone{process, departure, {}, false}, now);
                    if (!std::exchange(stutters_, false)) return;
                    tell_later(OwnerGone{process, departure, {}, false}, std::chrono::seconds{1});
                },
            .unknown = [this, now](
                           const ProcessIdentity& process,
                           const std::string& why) { tell_later(OwnerUnknown{process, why}, now); },
            .alive = [this, now](
                         const ProcessIdentity& process) { tell_later(OwnerAlive{process}, now); }},
        [this] { return host_.readings().boot; });
}

bool Node::hold(WatchList::Number number, const ProcessIdentity& process, Fd&&) {
    if (held_.size() >= host_.descriptors) return false;
    held_.emplace(number, process);
    return true;
}

void Node::watch(const ProcessIdentity& process) {
    watching_->watch(process, watching_->look(process));
}

void Node::look() {
    if (host_.elapsed() < watch_goes_on_at_) return;
    const auto before = host_.readings().boot;
    for (const auto& [number, process] : std::map(held_)) {
        const auto* held = host_.find(process);
        if (held->alive) continue;
        watching_->ended(number, [held](const ProcessIdentity&) {
            auto departure = held->went;
            departure.evidence = "seen through its pidfd";
            return departure;
        });
    }
    watching_->looked_at_held(before);
    watching_->look_again();
    watching_->check_invariants();
    background_->look();
    // A word that is still on its way to the write step is not among those it gathers next.
    if (!has_submissions()) {
        write_step_->note_watched_until(
            std::min(watching_->proven_until(), background_->proven_until()));
    }
}

void Node::carry_out(Effect&& effect) {
    if (auto* watch_owner = std::get_if<WatchOwner>(&effect)) {
        leftovers_->protect(watch_owner->process);
        watch(watch_owner->process);
    } else if (auto* unwatch = std::get_if<UnwatchOwner>(&effect)) {
        leftovers_->unprotect(unwatch->process);
        watching_->unwatch(unwatch->process);
    } else if (auto* find = std::get_if<FindLeftovers>(&effect)) {
        leftovers_->look(*find);
    } else if (auto* stop = std::get_if<StopLeftovers>(&effect)) {
        leftovers_->stop(std::move(*stop));
    } else if (const auto* watched = std::get_if<WatchProcess>(&effect)) {
        leftovers_->note(*watched);
        background_->carry_out(*watched);
    } else if (const auto* unwatched = std::get_if<UnwatchProcess>(&effect)) {
        leftovers_->note(*unwatched);
        background_->carry_out(*unwatched);
    } else if (const auto* gate = std::get_if<OpenGate>(&effect)) {
        background_->carry_out(*gate);
    } else if (auto* tree = std::get_if<StopTree>(&effect)) {
        leftovers_->stop(std::move(*tree));
    }
}

void Node::tell_later(Input input, Host::Duration late) {
    words_.push_back({host_.elapsed() + late, std::move(input)});
}

std::vector<Input> Node::take_words() {
    leftovers_->take_up_remains(*reader_);
    auto due = leftovers_->step();
    std::ranges::move(background_->step(), std::back_inserter(due));
    std::erase_if(words_, [&](Later& later) {
        if (later.due > host_.elapsed()) return false;
        due.push_back(std::move(later.input));
        return true;
    });
    return due;
}

}  // namespace knell::sim
