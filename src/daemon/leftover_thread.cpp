#include "daemon/leftover_thread.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <pthread.h>

#include "core/limits.hpp"
#include "platform/clock.hpp"
#include "watch/cached_tree.hpp"
#include "watch/leftovers.hpp"
#include "watch/pidfd_holder.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// How often what is under way is looked at.
constexpr std::chrono::milliseconds tick{20};
/// Of the time that goes by, a look for survivors takes so small a part, however many processes
/// there are and end.
constexpr int remains_share = 10;

/// Those whose parent is not among them.
std::vector<Leftover> topmost(const TreeRoot& root, const std::vector<ProcessIdentity>& found,
                              const ProcessTree& tree) {
    std::set<pid_t> pids;
    for (const auto& process : found) pids.insert(process.pid);
    std::vector<Leftover> top;
    for (const auto& process : found) {
        const auto stat = tree.stat(process.pid);
        if (!stat || pids.contains(stat->parent)) continue;
        if (top.size() == limits::leftovers_max) break;
        Leftover leftover;
        leftover.process = process;
        leftover.found_by = fmt::format("left running by background process {}", root.id.text());
        leftover.command = readable_command(tree.command_line(process.pid));
        leftover.fate = Fate::left;
        top.push_back(std::move(leftover));
    }
    return top;
}

/// The background processes that it stops, with all that belongs to them.
std::vector<ProcessId> trees_in(const StopOrder& order) {
    std::vector<ProcessId> ids;
    for (const auto& leftover : order.leftovers) {
        if (leftover.fate != Fate::stopping || leftover.process_id.empty()) continue;
        ids.push_back(leftover.process_id);
    }
    return ids;
}

}  // namespace

LeftoverThread::LeftoverThread(const ProcessTree& tree, TreeBounds bounds, Tell tell)
    : tree_(tree),
      bounds_(bounds),
      holder_(std::make_unique<PidfdHolder>(tree, bounds.owners)),
      tell_(std::move(tell)),
      queue_(limits::queue_reads_max),
      stopping_(*holder_, tree, std::move(bounds)),
      owners_(*holder_,
              [this](const ProcessIdentity& process) { return bounds_.owners.contains(process); }),
      thread_([this] { loop(); }) {}

bool LeftoverThread::search(std::vector<LeftoverSearch> searches, Found&& found) {
    Request request;
    request.look = std::make_unique<Look>(LeftoverLook(std::move(searches)), std::move(found));
    if (queue_.push(std::move(request))) return true;
    // A push that is refused leaves its argument as it was.
    found = std::move(request.look->found);  // NOLINT(bugprone-use-after-move)
    return false;
}

void LeftoverThread::stop_leftovers(StopOrder order) {
    for (const auto& id : trees_in(order)) states_.ordered(id);
    Request request;
    request.order = std::move(order);
    queue_.push_always(std::move(request));
}

void LeftoverThread::stop_tree(TreeRoot root) {
    states_.ordered(root.id);
    Request request;
    request.root = std::move(root);
    queue_.push_always(std::move(request));
}

void LeftoverThread::stop_owner(ProcessIdentity process, OwnerStopper::Done done) {
    Request request;
    request.owner = std::make_unique<OwnerStop>(std::move(process), std::move(done));
    queue_.push_always(std::move(request));
}

void LeftoverThread::find_survivors(TreeRoot root, FoundSurvivors found) {
    Request request;
    request.remains = std::make_unique<Remains>(std::move(root), std::move(found),
                                                read_awake_clock() + LeftoverLook::grace);
    queue_.push_always(std::move(request));
}

void LeftoverThread::look_for_marks(FoundMarks found) {
    Request request;
    request.marks = std::move(found);
    queue_.push_always(std::move(request));
}

void LeftoverThread::stop() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
}

void LeftoverThread::loop() {
    pthread_setname_np(pthread_self(), "knell-leftovers");
    std::vector<Request> taken;
    const auto wait_max = [this]() -> std::optional<std::chrono::milliseconds> {
        if (looks_.empty() && remains_.empty() && stopping_.is_idle() && owners_.is_idle())
            return std::nullopt;
        return tick;
    };
    while (queue_.pop_all(taken, wait_max())) {
        for (auto& request : taken) take(std::move(request));
        step();
    }
}

void LeftoverThread::take(Request&& request) {
    if (request.owner) {
        owners_.add(std::move(request.owner->process), std::move(request.owner->done),
                    read_awake_clock());
    } else if (request.look) {
        looks_.push_back(std::move(request.look));
    } else if (request.remains) {
        remains_.push_back(std::move(request.remains));
    } else if (request.root) {
        states_.begun(request.root->id);
        stopping_.add(std::move(*request.root), read_awake_clock());
    } else if (request.marks) {
        request.marks(find_marks(tree_, bounds_.socket));
    } else {
        for (const auto& id : trees_in(request.order)) states_.begun(id);
        stopping_.add(std::move(request.order), read_awake_clock());
    }
}

void LeftoverThread::step() {
    std::erase_if(looks_, [this](const std::unique_ptr<Look>& one) {
        auto found = one->look.step(tree_, bounds_.owners, read_awake_clock());
        if (!found) return false;
        one->found(std::move(*found));
        return true;
    });
    auto done = stopping_.step(read_awake_clock());
    for (const auto& tree : done.trees) {
        // Told first: whoever asks how it went finds an answer on record, or here.
        tell_.stopped(tree);
        states_.ended(tree.root.id, tree.left);
    }
    owners_.step(read_awake_clock());
    for (auto& order : done.orders) tell_.settled(std::move(order));
    if (!remains_.empty()) look_at_remains(read_awake_clock());
}

/// One pass for all whose turn it is.
void LeftoverThread::look_at_remains(SteadyTime now) {
    if (now < next_remains_look_) return;
    const CachedTree look(tree_);
    std::erase_if(remains_, [&](const std::unique_ptr<Remains>& one) {
        if (now < one->not_before || stopping_.is_stopping(one->root.process)) return false;
        one->found(topmost(one->root, find_tree(one->root, look, bounds_), look));
        return true;
    });
    const auto after = read_awake_clock();
    next_remains_look_ = after + (after - now) * remains_share;
}

}  // namespace knell
