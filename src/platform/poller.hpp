#pragma once

#include <optional>
#include <span>
#include <vector>

#include <poll.h>

#include "base/time.hpp"
#include "platform/fd.hpp"

namespace knell {

/// What a thread waits for next: gathered anew before each wait, from all that it tends.
struct Awaited {
    std::vector<pollfd> descriptors;  // as for poll(2): negative ones are passed over
    std::optional<SteadyTime> until;

    void no_later_than(std::optional<SteadyTime> time);
};

/// The one place where a thread waits that tends many things at once.  Whatever it tends says what
/// it waits for, and looks for itself what has happened (`look_now`); nothing else blocks.
///
/// One thread, except `wake`.
class Poller {
  public:
    Poller();

    /// Until something may have happened: also earlier, with nothing to show.
    void wait(Awaited awaited, SteadyTime now);

    /// Any thread: `wait` returns soon, or does not begin.
    void wake();

  private:
    const Fd wake_;
};

/// Which of them are ready, without waiting.  Where the kernel does not say, all are: to look in
/// vain costs less than never to look.
void look_now(std::span<pollfd> descriptors);

}  // namespace knell
