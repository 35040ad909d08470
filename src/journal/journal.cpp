#include "journal/journal.hpp"

#include <iterator>

namespace knell {

Result<void> Journal::recover() {
    const auto heads = store_.heads();
    if (!heads) return std::unexpected(heads.error());
    state_.set_heads(*heads);
    return store_.for_each_open([this](const Session& session) { state_.adopt(session); });
}

Result<std::size_t> Journal::decide_some(std::span<Command> commands, Now now,
                                         std::vector<Result<Reply>>& replies) {
    std::size_t taken = 0;
    for (auto& command : commands) {
        const auto& subject = subject_of(command);
        std::optional<Session> past;
        if (may_have_past(command) && state_.find(subject) == nullptr) {
            // Its end is decided but not written: the row in the store is out of date, so what
            // comes after it waits for the next transaction.
            if (state_.ended_in_batch(subject)) break;
            auto row = store_.find(subject);
            if (!row) return std::unexpected(row.error());
            past = std::move(*row);
        }
        auto decision = decide(std::move(command), past ? &*past : nullptr, state_, now.wall);
        for (auto& change : decision.changes) {
            state_.apply(change);
            batch_.changes.push_back(std::move(change));
        }
        for (auto& event : decision.events) {
            state_.number(event);
            batch_.events.push_back(std::move(event));
        }
        replies.push_back(std::move(decision.reply));
        ++taken;
    }
    return taken;
}

std::vector<Result<Reply>> Journal::commit(std::vector<Command>&& commands, Now now) {
    std::vector<Result<Reply>> replies;
    replies.reserve(commands.size());
    std::span<Command> left = commands;
    while (!left.empty()) {
        const auto first = replies.size();
        batch_.clear();
        const auto taken = decide_some(left, now, replies);
        auto written = taken ? Result<void>{} : Result<void>{std::unexpected(taken.error())};
        if (written && !batch_.empty()) {
            written = store_.commit(batch_);
            if (written) ++counts_.commits;
        }
        if (written) {
            state_.settle();
            counts_.commands += *taken;
            left = left.subspan(*taken);
            continue;
        }
        ++counts_.failures;
        state_.revert();
        replies.resize(first, std::unexpected(written.error()));
        replies.resize(commands.size(), std::unexpected(written.error()));
        break;
    }
    return replies;
}

}  // namespace knell
