#include "daemon/leftover_thread.hpp"

#include <optional>

#include <pthread.h>

#include "core/limits.hpp"
#include "platform/clock.hpp"
#include "watch/pidfd_holder.hpp"

namespace knell {

namespace {
/// How often what is under way is looked at.
constexpr std::chrono::milliseconds tick{20};
}  // namespace

LeftoverThread::LeftoverThread(const ProcessTree& tree, const LiveOwners& owners, Settled settled)
    : tree_(tree),
      owners_(owners),
      holder_(std::make_unique<PidfdHolder>(tree, owners)),
      settled_(std::move(settled)),
      queue_(limits::queue_reads_max),
      stopper_(*holder_),
      thread_([this] { loop(); }) {}

bool LeftoverThread::search(std::vector<LeftoverSearch> searches, Found&& found) {
    Request request{std::make_unique<Look>(LeftoverLook(std::move(searches)), std::move(found)),
                    {}};
    if (queue_.push(std::move(request))) return true;
    // A push that is refused leaves its argument as it was.
    found = std::move(request.look->found);  // NOLINT(bugprone-use-after-move)
    return false;
}

void LeftoverThread::stop_leftovers(StopOrder order) {
    queue_.push_always({nullptr, std::move(order)});
}

void LeftoverThread::stop() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
}

void LeftoverThread::loop() {
    pthread_setname_np(pthread_self(), "knell-leftovers");
    std::vector<Request> taken;
    const auto wait_max = [this]() -> std::optional<std::chrono::milliseconds> {
        if (looks_.empty() && stopper_.is_idle()) return std::nullopt;
        return tick;
    };
    while (queue_.pop_all(taken, wait_max())) {
        for (auto& request : taken) {
            if (request.look) {
                looks_.push_back(std::move(request.look));
            } else {
                stopper_.add(std::move(request.order), read_awake_clock());
            }
        }
        step();
    }
}

void LeftoverThread::step() {
    std::erase_if(looks_, [this](const std::unique_ptr<Look>& one) {
        auto found = one->look.step(tree_, owners_, read_awake_clock());
        if (!found) return false;
        one->found(std::move(*found));
        return true;
    });
    for (auto& order : stopper_.step(read_awake_clock())) settled_(std::move(order));
}

}  // namespace knell
