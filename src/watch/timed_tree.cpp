#include "watch/timed_tree.hpp"

#include <atomic>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "base/mutex.hpp"
#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"

namespace knell {

/// A thread that answers one question after another.  It holds itself, so that it may be forgotten
/// while it hangs.
class TimedTree::Worker {
  public:
    using Question = std::function<Answer(const ProcessTree&)>;

    /// Null where the system gives no thread: a crowd of processes must not end the daemon.
    static std::shared_ptr<Worker> start(std::shared_ptr<const ProcessTree> tree) {
        auto worker = std::make_shared<Worker>();
        try {
            std::thread([worker, tree = std::move(tree)] {
                pthread_setname_np(pthread_self(), "knell-procfs");
                worker->run(*tree);
            }).detach();
        } catch (const std::system_error&) {
            return nullptr;
        }
        return worker;
    }

    /// Nothing when it did not come back in time.
    std::optional<Answer> ask(Question question, std::chrono::milliseconds wait_max) {
        Lock lock(mutex_);
        question_ = std::move(question);
        answer_.reset();
        changed_.notify_all();
        const auto is_answered = [this]() KNELL_REQUIRES(mutex_) { return answer_.has_value(); };
        while (!changed_.wait_for(lock, wait_max, is_answered)) {
            if (is_stuck()) break;
        }
        return std::exchange(answer_, std::nullopt);
    }
    bool is_back() {
        const Lock lock(mutex_);
        return answer_.has_value();
    }
    void stop() {
        const Lock lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }

  private:
    /// On a busy machine it may only wait for its turn to run: then its answer will come.
    bool is_stuck() const {
        const pid_t reader = reader_;
        if (reader == 0) return false;
        // In our own directory: where /proc is another namespace's, the number is a stranger's
        // elsewhere.
        const auto text = read_small_file(fmt::format("/proc/self/task/{}/stat", reader));
        const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
        return !stat || stat->state != 'R';
    }

    void run(const ProcessTree& tree) {
        while (const auto question = next_question()) {
            reader_ = ::gettid();
            auto answer = question(tree);
            reader_ = 0;
            const Lock lock(mutex_);
            answer_ = std::move(answer);
            changed_.notify_all();
        }
    }

    /// Nothing when it is time to stop.
    Question next_question() {
        Lock lock(mutex_);
        changed_.wait(lock, [this]() KNELL_REQUIRES(mutex_) { return stopping_ || question_; });
        return stopping_ ? nullptr : std::exchange(question_, nullptr);
    }

    std::atomic<pid_t> reader_ = 0;  // the thread, while it reads
    Mutex mutex_;
    Condition changed_;
    Question question_ KNELL_GUARDED_BY(mutex_);
    std::optional<Answer> answer_ KNELL_GUARDED_BY(mutex_);
    bool stopping_ KNELL_GUARDED_BY(mutex_) = false;
};

TimedTree::TimedTree(std::shared_ptr<const ProcessTree> tree) : tree_(std::move(tree)) {}

TimedTree::~TimedTree() {
    if (worker_) worker_->stop();
    for (const auto& worker : stuck_) worker->stop();
}

TimedTree::Answer TimedTree::ask(std::function<Answer(const ProcessTree&)> question) const {
    std::erase_if(stuck_, [](const auto& worker) {
        const bool is_back = worker->is_back();
        if (is_back) worker->stop();
        return is_back;
    });
    if (!worker_) {
        if (stuck_.size() >= stuck_max) return std::nullopt;
        worker_ = Worker::start(tree_);
        if (!worker_) return std::nullopt;
    }
    auto answer = worker_->ask(std::move(question), read_max);
    if (answer) return *std::move(answer);
    stuck_.push_back(std::exchange(worker_, nullptr));
    return std::nullopt;
}

std::optional<std::string> TimedTree::environment(pid_t pid) const {
    return ask([pid](const ProcessTree& tree) { return tree.environment(pid); });
}

std::string TimedTree::command_line(pid_t pid) const {
    return ask([pid](const ProcessTree& tree) -> Answer { return tree.command_line(pid); })
        .value_or("");
}

bool TimedTree::is_knell(pid_t pid) const {
    // One that cannot be looked at is spared.
    const auto answer =
        ask([pid](const ProcessTree& tree) -> Answer { return tree.is_knell(pid) ? "yes" : "no"; });
    return answer != "no";
}

bool TimedTree::is_same_file(const std::string& one, const std::string& other) const {
    if (one == other) return true;
    const auto answer = ask([one, other](const ProcessTree& tree) -> Answer {
        return tree.is_same_file(one, other) ? "yes" : "no";
    });
    return answer == "yes";
}

}  // namespace knell
