#include "daemon/writer.hpp"

#include <pthread.h>

#include <algorithm>

#include "core/limits.hpp"
#include "platform/clock.hpp"
#include "platform/log.hpp"

namespace knell {

Writer::Writer(Store& store, Publish publish)
    : store_(store),
      publish_(std::move(publish)),
      queue_(limits::queue_commands_max),
      journal_(state_, store_) {}

Writer::~Writer() { stop(); }

Result<void> Writer::recover() {
    auto recovered = journal_.recover();
    update_figures();
    return recovered;
}

void Writer::start() {
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "knell-writer");
        loop();
    });
}

void Writer::stop() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
}

bool Writer::submit(Command&& command, Done&& done) {
    Submission submission{std::move(command), std::move(done)};
    if (queue_.push(std::move(submission))) return true;
    command = std::move(submission.command);
    done = std::move(submission.done);
    return false;
}

void Writer::loop() {
    std::vector<Submission> taken;
    while (queue_.pop_all(taken)) {
        std::span<Submission> left = taken;
        while (!left.empty()) {
            const auto size = std::min(left.size(), limits::batch_commands_max);
            commit(left.first(size));
            left = left.subspan(size);
        }
        if (queue_.size() > 0) continue;
        if (auto maintained = store_.maintain(); !maintained) {
            log_warn("store maintenance failed, will try again: {}", maintained.error().message);
        }
    }
}

void Writer::commit(std::span<Submission> group) {
    std::vector<Command> commands;
    commands.reserve(group.size());
    for (auto& submission : group) commands.push_back(std::move(submission.command));
    const auto failures = journal_.counts().failures;
    auto replies = journal_.commit(std::move(commands), read_clocks());
    if (journal_.counts().failures != failures) {
        const auto failed = std::ranges::find_if(
            replies, [](const auto& r) { return !r && r.error().code == ErrorCode::storage; });
        if (failed != replies.end()) log_error("nothing was acknowledged: {}", failed->error().message);
    }
    update_figures();
    std::vector<Answer> answers;
    answers.reserve(group.size());
    for (std::size_t i = 0; i < group.size(); ++i) {
        answers.push_back({std::move(group[i].done), std::move(replies[i])});
    }
    publish_(std::move(answers));
}

void Writer::update_figures() {
    figures_.open = state_.open_count();
    figures_.running = state_.running_count();
    figures_.last_seq = state_.heads().seq;
    figures_.commits = journal_.counts().commits;
    figures_.commands = journal_.counts().commands;
    figures_.failures = journal_.counts().failures;
}

}  // namespace knell
