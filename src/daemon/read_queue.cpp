#include "daemon/read_queue.hpp"

#include <algorithm>
#include <iterator>

namespace knell {

bool ReadQueue::push(rpc::ConnectionId asker, QueuedRead&& read) {
    {
        const Lock lock(mutex_);
        if (closed_ || size_ >= size_max_) return false;
        auto& own = waiting_[asker];
        if (own.empty()) turns_.push_back(asker);
        own.push_back(std::move(read));
        ++size_;
    }
    ready_.notify_one();
    return true;
}

std::optional<QueuedRead> ReadQueue::pop() {
    Lock lock(mutex_);
    ready_.wait(lock, [this]() KNELL_REQUIRES(mutex_) { return closed_ || size_ > 0; });
    if (size_ == 0) return std::nullopt;
    const auto asker = turns_.front();
    turns_.pop_front();
    const auto own = waiting_.find(asker);
    auto read = std::move(own->second.front());
    own->second.pop_front();
    --size_;
    if (own->second.empty()) {
        waiting_.erase(own);
    } else {
        turns_.push_back(asker);
    }
    return read;
}

std::vector<QueuedRead> ReadQueue::take_out(rpc::ConnectionId asker) {
    const Lock lock(mutex_);
    const auto own = waiting_.find(asker);
    if (own == waiting_.end()) return {};
    std::vector<QueuedRead> taken(std::make_move_iterator(own->second.begin()),
                                  std::make_move_iterator(own->second.end()));
    size_ -= taken.size();
    waiting_.erase(own);
    turns_.erase(std::ranges::find(turns_, asker));
    return taken;
}

void ReadQueue::close() {
    {
        const Lock lock(mutex_);
        closed_ = true;
    }
    ready_.notify_all();
}

std::size_t ReadQueue::size() const {
    const Lock lock(mutex_);
    return size_;
}

}  // namespace knell
