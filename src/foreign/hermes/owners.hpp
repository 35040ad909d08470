#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foreign/hermes/records.hpp"
#include "platform/file_holders.hpp"
#include "platform/proc_stat.hpp"

namespace knell::hermes {

/// What is at hand of a process that some file names.
enum class Life : std::uint8_t { alive, reused, gone, unknown };
inline constexpr std::array<std::string_view, 4> life_names{"alive", "reused", "gone", "unknown"};

/// How processes are looked at from here.  Handed in, so that judging stays pure.
struct ProcessView {
    std::function<std::optional<ProcStat>(pid_t)> look;
    WallTime booted_at;  // by the clock as it goes now
    double ticks_per_second = 100;
    std::string host;
};

struct ProcessJudgement {
    Life life = Life::unknown;
    std::optional<std::chrono::seconds> age;
    /// Whether it would keep Hermes from resetting its session, if that were due.
    bool holds_reset = false;
};

/// How many hours a background process holds a reset at most; none: for ever, as before schema 17.
ProcessJudgement judge(const ProcessEntry& entry, const ProcessView& view, WallTime now,
                       std::optional<std::chrono::hours> holds_at_most);
Life judge(const OwnerEntry& entry, const ProcessView& view);

enum class Verdict : std::uint8_t { alive, dead, unknown };
inline constexpr std::array<std::string_view, 3> verdict_names{"alive", "dead", "unknown"};

struct RowVerdict {
    Verdict verdict = Verdict::unknown;
    std::string evidence;
};

/// Says of a row without an end whether its owner lives.  Hermes keeps no owner with a session, so
/// what decides is, in this order:
/// - alive: a process that its files name for this session, or for its key's background work,
///   runs, or the gateway runs and leads its key to it;
/// - dead: the gateway has written down that it is over; the process that was named for it has
///   ended; or nobody has state.db open, and so nobody can have the session;
/// - else unknown.  Never dead for its age.
class RowJudge {
  public:
    struct Facts {
        std::vector<RoutingEntry> routing;
        std::vector<ProcessEntry> processes;
        std::vector<OwnerEntry> owners;  // of sessions, and of none: backends and the gateway
        FileHolders files;               // who has state.db open
        std::vector<std::string> unreadable{};  // files that may name owners
    };
    RowJudge(Facts facts, ProcessView view);

    RowVerdict judge(const SessionRow& row) const;
    /// Somebody has state.db open, or may: nothing there may be changed.
    bool is_in_use() const { return !in_use_.empty(); }
    /// Who; "" when nobody has.
    const std::string& in_use() const { return in_use_; }

  private:
    std::optional<RowVerdict> judge_named(const SessionRow& row) const;
    std::optional<RowVerdict> judge_routed(const SessionRow& row) const;

    const ProcessView view_;
    const FileHolders files_;
    std::string in_use_;
    std::string gateway_;                                       // the one that runs; "": none does
    std::map<std::string, std::vector<OwnerEntry>> owners_;     // by session
    std::map<std::string, std::vector<RoutingEntry>> routing_;  // by session
    std::map<std::string, RowVerdict> work_;  // by session or key: what runs for it
};

/// The process in "host=a pid=17 tid=3"; 0: none is named.
pid_t pid_in_holder(std::string_view holder);

/// Processes that cannot be asked and may be Hermes: it is a Python program.
std::vector<FileHolder> possible_holders(const FileHolders& files);

}  // namespace knell::hermes
