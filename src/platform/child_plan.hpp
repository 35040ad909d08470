#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sys/types.h>

namespace knell {

struct ProgramAt {
    std::string path;
};
/// In a directory that is open, and not through a link.
struct ProgramIn {
    int directory = -1;
    std::string name;
};
/// Where a shell would find it: execvp(3).
struct ProgramOnPath {
    std::string name;
};
using Program = std::variant<ProgramAt, ProgramIn, ProgramOnPath>;

/// What a new process is to be.  Whatever is not said here it has from its parent.
struct ChildSpec {
    Program program;
    std::vector<std::string> argv;
    /// NAME=value.  None: that of the process which becomes the program, at that moment.
    std::optional<std::vector<std::string>> environment;
    /// One more variable for a given environment, "NAME=text"; the new process puts its pid behind
    /// it, in ten digits.  "": none.
    std::string pid_variable;
    /// And one whose value is known only when the program is executed: its name.  "": none.
    std::string late_variable;

    struct Placed {
        int ours;
        int theirs;
    };
    /// Those of ours that it gets, and under which numbers.
    std::vector<Placed> descriptors;
    /// Which of its numbers are /dev/null; in a root without one they stay what they were.
    std::vector<int> null_descriptors;
    /// From 3 on it has those of ours that it is given, and no others.
    bool closes_others = false;

    enum class Group : std::uint8_t { inherited, own, own_session };
    Group group = Group::inherited;
    /// Sent to it when the thread that starts it ends.  0: none.
    int death_signal = 0;
    int directory = -1;           // to run in, open
    std::string directory_path;   // the same, by its path
    bool resets_signals = false;  // see `reset_signals`; `spawn` always does
    bool resets_limits = false;   // see platform/process_limits.hpp
    std::optional<mode_t> umask;
};

enum class SpawnStep : std::uint8_t {
    descriptors,
    fork,
    group,
    death_signal,
    directory,
    signals,
    program,
    pidfd,
};

struct SpawnFailure {
    SpawnStep step;
    int error;  // errno
};

/// No handler, nothing ignored, nothing blocked.  System calls alone.
bool reset_signals();

/// A spec with everything that a child needs laid out before there is one.
///
/// For those who fork by themselves, because the child has something to do before it becomes the
/// program; all others `spawn`.
class ChildPlan {
  public:
    explicit ChildPlan(ChildSpec spec);
    ChildPlan(ChildPlan&&) = delete;

    /// Makes the calling process that program.  Returns only when it cannot.
    ///
    /// Makes system calls and nothing else: the caller may be a child that shares our memory, or
    /// one that was forked while another thread held a lock.  Once.
    SpawnFailure become();

    /// The same in two steps, with something in between: all that can fail before the program is
    /// executed, and that.
    std::optional<SpawnFailure> prepare();
    /// `late_value` is that of the late variable, late_value_max bytes at most.
    SpawnFailure execute(std::string_view late_value = {});
    static constexpr std::size_t late_value_max = 20;

    /// Those that become or prepare need, in order, with some of the caller's own.  Before the
    /// fork.
    std::vector<int> needed_descriptors(std::vector<int> own) const;
    /// Closes all but these, from 3 on.  For a child that was forked and waits for something: of
    /// what it holds of its parent's others may wait for the end.  System calls alone.
    void close_all_but(const std::vector<int>& ordered) const;

    /// All numbers from here on are none that the child's own are put under.
    int first_free() const { return first_free_; }

  private:
    std::optional<SpawnStep> try_to_prepare();
    void set_late_value(std::string_view value);
    bool join_group() const;
    bool ask_for_death_signal() const;
    bool enter_directory() const;
    void close_others_at_exec() const;
    void close_from(int first, int last) const;
    bool place_descriptors();
    void write_pid() const;
    void try_to_execute() const;

    const pid_t parent_;
    const int descriptors_max_;
    ChildSpec spec_;
    int first_free_;
    std::vector<char*> argv_;         // into `spec_`
    std::vector<char*> environment_;  // the same; empty: as it is then
    char* pid_place_ = nullptr;       // the same
    char* late_place_ = nullptr;      // the same
};

}  // namespace knell
