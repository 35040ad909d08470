#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "core/background_process.hpp"
#include "core/ids.hpp"
#include "core/owner.hpp"

namespace knell {

/// What few live sessions have.
struct Rare {
    std::optional<WallTime> unknown_since;
    std::optional<WallTime> stalled_since;
    std::optional<WallTime> parked_since;
    std::optional<WallTime> parked_before;  // see Session, as the next
    std::string park_why;
    std::chrono::seconds park_window{0};
    /// The process that orphans of the command are handed to, as long as the daemon that saw it
    /// lives; and whether it is the command's parent and so sees how it ends.
    Reaper reaper;
    bool reaper_is_parent = false;
    std::vector<ProcessIdentity> former_owners;  // of earlier generations
    std::vector<ClientId> clients;               // that look at it
    bool attach_told = false;                    // see Session, as the next
    std::optional<WallTime> detached_since;
    std::optional<WallTime> background_since;
    SteadyTime tell_detach_at = SteadyTime::max();
    std::vector<ClientId> turn_clients;    // who began the turn or said so again, and are there
    std::chrono::seconds turn_window{0};   // see Turn
    std::optional<WallTime> suspended_at;  // see Session, as the next
    std::string suspend_why;
    std::optional<WallTime> reset_held_since;
    std::vector<ProcessId> reset_held_by;
    std::optional<WallTime> reset_look_again_at;  // see ResetHeld

    bool operator==(const Rare&) const = default;
};

/// A `Rare` that costs a plain session one pointer.  A copy is a copy: what a session was before a
/// change holds this too, and comes back with it.
class RareState {
  public:
    RareState() = default;
    RareState(const RareState& other)
        : rare_(other.rare_ ? std::make_unique<Rare>(*other.rare_) : nullptr) {}
    RareState& operator=(const RareState& other) {
        if (this != &other) *this = RareState(other);
        return *this;
    }
    RareState(RareState&&) noexcept = default;
    RareState& operator=(RareState&&) noexcept = default;
    ~RareState() = default;

    const Rare& get() const {
        static const Rare none;
        return rare_ ? *rare_ : none;
    }

    template <typename Member, typename Value>
    void set(Member Rare::* member, Value&& value) {
        if (get().*member == value) return;
        if (!rare_) rare_ = std::make_unique<Rare>();
        (*rare_).*member = std::forward<Value>(value);
        if (*rare_ == Rare{}) rare_.reset();
    }

  private:
    std::unique_ptr<Rare> rare_;
};

}  // namespace knell
