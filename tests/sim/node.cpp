#include "node.hpp"

#include <algorithm>

#include "store/memory/memory_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "watch/process_check.hpp"

namespace knell::sim {

using testing::FaultyDisk;

Node::Node(Host& host, bool on_disk, std::function<void()> on_look, Leftovers::OnSignal on_signal)
    : host_(host), on_look_(std::move(on_look)), on_signal_(std::move(on_signal)) {
    if (on_disk) {
        disk_ = std::make_unique<FaultyDisk>();
    } else {
        inner_ = make_memory_store();
    }
}

Node::~Node() {
    drop_everything();
}

Result<Desk::Recovered> Node::start() {
    if (disk_) {
        auto opened = sqlite::open_store({.path = "knell.db", .vfs = disk_->vfs()});
        if (!opened) return std::unexpected(opened.error());
        inner_ = std::move(*opened);
    }
    store_ = std::make_unique<SimStore>(*inner_, host_);
    store_->refusals = std::exchange(refusals_, 0);
    store_->commit_takes = commit_takes_;
    auto reader = store_->open_reader();
    if (!reader) return std::unexpected(reader.error());
    reader_ = std::move(*reader);
    desk_ = std::make_unique<Desk>(*store_, [this] {
        on_look_();
        return host_.readings();
    });
    self_ = host_.start();
    leftovers_ = std::make_unique<Leftovers>(host_, on_signal_);
    return desk_->recover(host_, *leftovers_, "started");
}

void Node::drop_everything() {
    // Closing must not write: this stands for a process that is no more.
    if (disk_) disk_->fail_at(1, FaultyDisk::Fault::power_cut);
    desk_.reset();
    reader_.reset();
    store_.reset();
    if (disk_) inner_.reset();
    watched_.clear();
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

void Node::stop() {
    desk_->save_all_seen();
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

void Node::watch(const ProcessIdentity& process) {
    if (std::ranges::find(watched_, process) != watched_.end()) return;
    auto finding = look_for(process, host_);
    if (auto* gone = std::get_if<Gone>(&finding)) {
        tell_later(OwnerGone{process, gone->departure, {}, false}, Host::Duration{0});
    } else if (auto* unclear = std::get_if<CannotTell>(&finding)) {
        tell_later(OwnerUnknown{process, unclear->why}, Host::Duration{0});
    } else {
        watched_.push_back(process);
    }
}

void Node::carry_out(Effect&& effect) {
    if (auto* watch_owner = std::get_if<WatchOwner>(&effect)) {
        leftovers_->protect(watch_owner->process);
        watch(watch_owner->process);
    } else if (auto* unwatch = std::get_if<UnwatchOwner>(&effect)) {
        leftovers_->unprotect(unwatch->process);
        std::erase(watched_, unwatch->process);
    } else if (auto* find = std::get_if<FindLeftovers>(&effect)) {
        leftovers_->look(*find);
    } else if (auto* stop = std::get_if<StopLeftovers>(&effect)) {
        leftovers_->stop(std::move(*stop));
    }
}

void Node::see_end(const Host::Process& process, Host::Duration late, bool twice) {
    if (std::erase(watched_, process.identity) == 0) return;
    auto departure = process.went;
    if (departure.evidence.empty()) departure.evidence = "seen through its pidfd";
    for (int i = 0; i < (twice ? 2 : 1); ++i) {
        tell_later(OwnerGone{process.identity, departure, {}, false}, late * (i + 1));
    }
}

void Node::tell_later(Command command, Host::Duration late) {
    words_.push_back({host_.elapsed() + late, std::move(command)});
}

std::vector<Command> Node::take_words() {
    auto due = leftovers_->step();
    std::erase_if(words_, [&](Later& later) {
        if (later.due > host_.elapsed()) return false;
        due.push_back(std::move(later.command));
        return true;
    });
    return due;
}

}  // namespace knell::sim
