#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/departure.hpp"
#include "core/owner.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// Watches processes through their pidfds and says when one is gone: within the time it takes the
/// kernel to wake a thread, whoever its parent is.
///
/// All public functions may be called from any thread; `gone` is called on the watch thread.
class ProcessWatch {
  public:
    using OnGone = std::function<void(const ProcessIdentity&, const Departure&)>;
    using OnUnknown = std::function<void(const ProcessIdentity&, const std::string& why)>;

    ProcessWatch(const ProcessTable& table, OnGone gone, OnUnknown unknown);
    ~ProcessWatch();

    /// A process that is gone already is reported like one that dies later.  Asked again about one
    /// that is watched, nothing changes.
    void watch(const ProcessIdentity& process);
    void unwatch(const ProcessIdentity& process);

    std::size_t watched() const;

  private:
    class Loop;
    const ProcessTable& table_;
    std::unique_ptr<Loop> loop_;
    std::thread thread_;
};

}  // namespace knell
