#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "watch/process_tree.hpp"

namespace knell {

/// A process tree in which nothing takes longer than a moment.
///
/// A process's environment and command line are read from its memory: while it holds the lock on
/// that (stuck on a dead network disk, say) the reader hangs with it.  Such reads are made by a
/// thread of their own; one that sleeps on and does not come back in time is left behind, and the
/// answer is that nothing can be read.  Past `stuck_max` of them nothing is read this way until one
/// comes back.
///
/// One thread at a time.
class TimedTree final : public ProcessTree {
  public:
    static constexpr std::chrono::milliseconds read_max{250};
    static constexpr std::size_t stuck_max = 4;

    explicit TimedTree(std::shared_ptr<const ProcessTree> tree);
    ~TimedTree() override;

    const std::string& boot_id() const override { return tree_->boot_id(); }
    std::uint64_t pid_namespace() const override { return tree_->pid_namespace(); }
    std::vector<pid_t> pids() const override { return tree_->pids(); }
    std::optional<ProcStat> stat(pid_t pid) const override { return tree_->stat(pid); }
    std::optional<std::vector<pid_t>> children(pid_t pid) const override {
        return tree_->children(pid);
    }
    std::optional<std::string> environment(pid_t pid) const override;
    std::string command_line(pid_t pid) const override;
    std::optional<Sockets> sockets(pid_t pid) const override { return tree_->sockets(pid); }
    bool is_knell(pid_t pid) const override;
    bool is_same_file(const std::string& one, const std::string& other) const override;

  private:
    class Worker;
    using Answer = std::optional<std::string>;
    Answer ask(std::function<Answer(const ProcessTree&)> question) const;

    const std::shared_ptr<const ProcessTree> tree_;
    mutable std::shared_ptr<Worker> worker_;  // the one that is asked next
    mutable std::vector<std::shared_ptr<Worker>> stuck_;
};

}  // namespace knell
