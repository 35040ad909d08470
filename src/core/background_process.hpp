#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/ids.hpp"
#include "core/owner.hpp"

namespace knell {

/// The name of a background process, as clients know it: "p-" and 13 letters and digits that stand
/// for 64 bits.
class ProcessId {
  public:
    ProcessId() = default;
    explicit ProcessId(std::string trusted) : text_(std::move(trusted)) {}
    static ProcessId from_bits(std::uint64_t bits);

    const std::string& text() const { return text_; }
    bool empty() const { return text_.empty(); }
    auto operator<=>(const ProcessId&) const = default;

  private:
    std::string text_;
};

/// What is wrong with `text` as a process id, or nothing.
std::optional<std::string> why_not_a_process_id(std::string_view text);
/// One that is not started by us has no id of its own choosing: the same process always gets the
/// same, whoever finds it.
ProcessId process_id_of(const ProcessIdentity& process);

/// How a background process came to be on record.
enum class ProcessOrigin : std::uint8_t {
    started,     // by the daemon, for a session
    registered,  // somebody else started it and said so
    leftover     // a session's command left it running
};
inline constexpr std::array<std::string_view, 3> process_origin_names{"started", "registered",
                                                                      "leftover"};

/// What a process and everything below it are doing.
enum class ProcessActivity : std::uint8_t {
    working,    // it uses the processor, reads or writes, or serves somebody
    listening,  // it offers a service that nobody uses
    waiting,    // it does nothing
    exited
};
inline constexpr std::array<std::string_view, 4> process_activity_names{"working", "listening",
                                                                        "waiting", "exited"};

/// What it was last seen doing, since when, and how that is known: for people.
struct ActivityFacts {
    ProcessActivity activity = ProcessActivity::working;
    WallTime since;
    std::string evidence;

    bool operator==(const ActivityFacts&) const = default;
};

enum class ExitKind : std::uint8_t {
    exited,        // `number` is the exit status
    signaled,      // `number` is the signal
    oom_killed,    // the kernel ended it for want of memory
    lost,          // it is gone, and nobody saw how
    host_restart,  // the boot it lived in is over
    never_ran      // its program was never executed
};
inline constexpr std::array<std::string_view, 6> exit_kind_names{
    "exited", "signaled", "oom_killed", "lost", "host_restart", "never_ran"};

/// How it ended, with honest bounds: after <= at <= before.
struct ProcessExit {
    ExitKind kind = ExitKind::lost;
    int number = 0;
    std::string evidence;
    WallTime at;
    WallTime after;
    WallTime before;

    bool operator==(const ProcessExit&) const = default;
};

/// All that is on record about one background process: one row of the store.  Its environment and
/// its output are not.
struct BackgroundProcess {
    std::int64_t number = 0;  // place in the order in which they came on record: the row's key
    ProcessId id;
    SessionId session_id;
    Generation generation = 0;  // of the session, when it came on record
    std::string task_id;
    ProcessOrigin origin = ProcessOrigin::started;
    ProcessIdentity process;
    std::vector<std::string> argv;  // of one that was registered: what /proc shows
    std::string cwd;
    std::string title;
    WallTime started_at;
    ActivityFacts activity;
    std::optional<WallTime> stale_since;  // told as process:stale
    std::optional<WallTime> vouched_until;
    std::optional<WallTime> stop_asked_at;
    std::string stop_asked_by;  // without a time: why a stop was given up, and who asked for it
    std::optional<ProcessExit> exit;

    bool operator==(const BackgroundProcess&) const = default;
};

/// Whether it is work that keeps its session: somebody vouches for it, or it is busy.
bool counts_as_work(const BackgroundProcess& process, WallTime now);

/// Its words as one line for people, `max` bytes at most.
std::string command_text(const std::vector<std::string>& argv, std::size_t max);

}  // namespace knell

template <>
struct std::hash<knell::ProcessId> {
    std::size_t operator()(const knell::ProcessId& id) const noexcept {
        return std::hash<std::string>{}(id.text());
    }
};
