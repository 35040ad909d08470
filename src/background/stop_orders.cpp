#include "background/stop_orders.hpp"

#include <algorithm>

namespace knell {

void StopOrders::add(StopOrder order, SteadyTime now) {
    for (auto& leftover : order.leftovers) {
        if (leftover.fate != Fate::stopping || leftover.process_id.empty()) continue;
        wanted_.insert(key_of(leftover.process));
        trees_.add({leftover.process_id, order.session_id, leftover.process}, now);
        leftover.fate = Fate::left;  // until it is known
    }
    leftovers_.add(std::move(order), now);
}

bool StopOrders::is_complete(const StopOrder& order) const {
    return std::ranges::none_of(order.leftovers, [this](const Leftover& leftover) {
        return wanted_.contains(key_of(leftover.process));
    });
}

void StopOrders::fill_in(StopOrder& order) {
    for (auto& leftover : order.leftovers) {
        const auto fate = fates_.find(key_of(leftover.process));
        if (fate == fates_.end()) continue;
        leftover.fate = fate->second;
        fates_.erase(fate);
    }
}

StopOrders::Done StopOrders::step(SteadyTime now) {
    Done done;
    done.trees = trees_.step(now);
    for (const auto& [root, fate, left] : done.trees) {
        if (wanted_.erase(key_of(root.process)) > 0) fates_[key_of(root.process)] = fate;
    }
    std::ranges::move(leftovers_.step(now), std::back_inserter(waiting_));
    std::erase_if(waiting_, [&](StopOrder& order) {
        if (!is_complete(order)) return false;
        fill_in(order);
        done.orders.push_back(std::move(order));
        return true;
    });
    return done;
}

}  // namespace knell
