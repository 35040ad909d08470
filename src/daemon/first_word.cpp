#include "daemon/first_word.hpp"

#include <chrono>
#include <utility>

#include "watch/process_check.hpp"

namespace knell {

namespace {
constexpr std::chrono::milliseconds look_every{20};
}  // namespace

void FirstWord::wait(OwnerGone gone, int looks) {
    // Of another user's process it may be all that can be known of how it went.
    const bool may_be_told =
        gone.departure.kind == Departure::Kind::lost || is_unwaited_for(gone.process, processes_);
    if (looks == 0 || !may_be_told) {
        return loop_.post([this, gone = std::move(gone)]() mutable {
            spool_.look([this, gone = std::move(gone)]() mutable { observe_(std::move(gone)); });
        });
    }
    loop_.after(look_every, [this, gone = std::move(gone), looks] { wait(gone, looks - 1); });
}

}  // namespace knell
