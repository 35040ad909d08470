#include "daemon/read_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace knell {

void ReadQueue::update(Askers::iterator asker) {
    auto& [id, state] = *asker;
    const bool may_be_served = closed_ || (!state.is_held && state.owed < owed_max_);
    const bool has_turn = may_be_served && !state.reads.empty();
    if (std::exchange(state.has_turn, has_turn) != has_turn) {
        if (has_turn) {
            turns_.push_back(id);
        } else {
            turns_.erase(std::ranges::find(turns_, id));
        }
    }
    if (state.reads.empty() && state.owed == 0 && !state.is_held) askers_.erase(asker);
}

bool ReadQueue::push(rpc::ConnectionId asker, QueuedRead&& read) {
    {
        const Lock lock(mutex_);
        if (closed_ || size_ >= size_max_) return false;
        const auto own = askers_.try_emplace(asker).first;
        own->second.reads.push_back(std::move(read));
        ++size_;
        update(own);
    }
    ready_.notify_one();
    return true;
}

std::optional<QueuedRead> ReadQueue::pop() {
    Lock lock(mutex_);
    ready_.wait(lock, [this]() KNELL_REQUIRES(mutex_) { return closed_ || !turns_.empty(); });
    if (turns_.empty()) return std::nullopt;
    const auto own = askers_.find(turns_.front());
    turns_.pop_front();
    own->second.has_turn = false;
    auto read = std::move(own->second.reads.front());
    own->second.reads.pop_front();
    --size_;
    update(own);
    return read;
}

std::vector<QueuedRead> ReadQueue::take_out(rpc::ConnectionId asker) {
    const Lock lock(mutex_);
    const auto own = askers_.find(asker);
    if (own == askers_.end()) return {};
    auto& reads = own->second.reads;
    std::vector<QueuedRead> taken(std::make_move_iterator(reads.begin()),
                                  std::make_move_iterator(reads.end()));
    size_ -= taken.size();
    reads.clear();
    own->second.is_held = false;
    update(own);
    return taken;
}

void ReadQueue::hold(rpc::ConnectionId asker, bool is_held) {
    {
        const Lock lock(mutex_);
        const auto own = askers_.try_emplace(asker).first;
        own->second.is_held = is_held;
        update(own);
    }
    if (!is_held) ready_.notify_one();
}

void ReadQueue::owe(rpc::ConnectionId asker, std::size_t bytes) {
    const Lock lock(mutex_);
    const auto own = askers_.try_emplace(asker).first;
    own->second.owed += bytes;
    update(own);
}

void ReadQueue::settle(rpc::ConnectionId asker, std::size_t bytes) {
    {
        const Lock lock(mutex_);
        const auto own = askers_.find(asker);
        if (own == askers_.end()) return;
        own->second.owed -= bytes;
        update(own);
    }
    ready_.notify_one();
}

void ReadQueue::close() {
    {
        const Lock lock(mutex_);
        closed_ = true;
        for (auto own = askers_.begin(); own != askers_.end();) update(own++);
    }
    ready_.notify_all();
}

bool ReadQueue::has_turn() const {
    const Lock lock(mutex_);
    return !turns_.empty();
}

std::size_t ReadQueue::size() const {
    const Lock lock(mutex_);
    return size_;
}

}  // namespace knell
