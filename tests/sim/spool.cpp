#include "spool.hpp"

#include <iterator>
#include <utility>

namespace knell::sim {

void Spool::append(const std::string& name, std::vector<Command> lines) {
    std::ranges::move(lines, std::back_inserter(files_[name]));
}

void Spool::look() {
    for (const auto& [name, lines] : files_) {
        if (!under_way_.contains(name)) under_way_.emplace(name, UnderWay{SpoolReplay(lines)});
    }
}

std::vector<Spool::Call> Spool::take_calls(std::vector<std::string>& delivered) {
    std::vector<Call> calls;
    for (auto at = under_way_.begin(); at != under_way_.end();) {
        const auto one = at++;
        auto& [name, file] = *one;
        if (file.is_asked) continue;
        auto next = file.replay.next();
        if (auto* command = std::get_if<Command>(&next)) {
            file.is_asked = true;
            calls.push_back({name, std::move(*command)});
            continue;
        }
        if (settle(name, next)) delivered.push_back(name);
        under_way_.erase(one);
    }
    return calls;
}

bool Spool::settle(const std::string& name, const SpoolReplay::Next& verdict) {
    if (std::holds_alternative<SpoolReplay::Never>(verdict)) bad_.insert(files_.extract(name));
    if (!std::holds_alternative<SpoolReplay::Delivered>(verdict)) return false;
    // The newest of that name: its writer has seen to it that the folder is on the disk.
    deleted_.insert_or_assign(name, std::move(files_.extract(name).mapped()));
    return true;
}

void Spool::take_in(const IsOpen& is_open, const Say& say) {
    const auto files = files_;
    for (const auto& [name, lines] : files) {
        if (!is_open(SessionId(name))) continue;
        SpoolReplay replay(lines);
        auto next = replay.next();
        for (; std::holds_alternative<Command>(next); next = replay.next()) {
            replay.take(say(std::move(std::get<Command>(next))));
        }
        if (settle(name, next)) delivered_at_start_.push_back(name);
    }
}

void Spool::take_answer(const std::string& name, const Result<Reply>& reply) {
    const auto file = under_way_.find(name);
    if (file == under_way_.end()) return;
    file->second.is_asked = false;
    file->second.replay.take(reply);
}

void Spool::lose_power(std::uint64_t seed) {
    crash();
    // What was written since under the same name is a new file, and has the name.
    if (seed % 2 == 0) files_.merge(deleted_);
    deleted_.clear();
}

}  // namespace knell::sim
