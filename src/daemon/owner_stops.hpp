#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "daemon/leftover_thread.hpp"
#include "engine/command.hpp"
#include "engine/reply.hpp"
#include "rpc/owner_stopping.hpp"

namespace knell {

/// Ends the processes of sessions that somebody wants stopped, on the thread of the leftovers. That
/// they are gone is seen as ever, by their pidfd or by who waited for them; whoever tells of it is
/// made to say what it ended after.  A daemon that comes up meanwhile does not know that any more.
class OwnerStops {
  public:
    struct Dependencies {
        /// Which processes keep how many sessions.  Answered on the server's thread.
        std::function<void(rpc::Done<Reply>)> survey;
        /// Any thread; the work is done on the server's.
        std::function<void(std::move_only_function<void()>)> post;
    };
    OwnerStops(LeftoverThread& leftovers, Dependencies dependencies)
        : leftovers_(leftovers), here_(std::move(dependencies)) {}

    /// On the server's thread, as the answer is.
    void stop(rpc::StopOwner request, rpc::Done<rpc::OwnerStop> done);

    /// Adds what it ended after to what is told of its end.  Any thread.
    void tell(const ProcessIdentity& process, Departure& departure) const;
    void tell(Close& close) const;
    /// It keeps no session any more.  Any thread.
    void forget(const ProcessIdentity& process);

  private:
    void signal(rpc::StopOwner request, rpc::Done<rpc::OwnerStop> done);

    LeftoverThread& leftovers_;
    const Dependencies here_;
    mutable Mutex mutex_;
    /// One for each owner that is being stopped, or was and is not told of yet.
    std::vector<rpc::StopOwner> stops_ KNELL_GUARDED_BY(mutex_);
};

/// "exit 3" as "exit 3 after knell stop".
std::string after(std::string detail, std::string_view what);

}  // namespace knell
