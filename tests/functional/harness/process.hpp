#pragma once

#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

#include "platform/fd.hpp"

namespace knell::functional {

/// The binary under test, from $KNELL_BIN.
std::string knell_binary();

inline constexpr auto system_path = "/usr/local/bin:/usr/bin:/bin";

/// Variables on top of the test's own, of which PATH and those of knell itself are left out.
using Environment = std::map<std::string, std::string>;

struct Spawn {
    std::vector<std::string> argv;
    Environment environment;
    std::string cwd;
    // Descriptors of the test that become 0, 1 and 2; -1 is /dev/null.
    int in = -1;
    int out = -1;
    int err = -1;
    std::optional<rlim_t> descriptors_max;
    std::optional<rlim_t> file_bytes_max;  // a write past it fails, as on a full disk
    // System calls that fail for it with `refused_with`, as in a sandbox or on an older kernel.
    std::vector<long> refused_calls;
    int refused_with = ENOSYS;
    void (*before_exec)() = nullptr;  // in the child, last: only calls that are safe after a fork
};

/// A child process.  Killed and waited for at the latest when this goes.  Dies with the test too,
/// which wants it to be started from the main thread.
class Process {
  public:
    explicit Process(const Spawn& spawn);
    Process(Process&& other) noexcept;
    Process& operator=(Process&&) = delete;
    ~Process();

    pid_t pid() const { return pid_; }
    void signal(int number) const;
    /// SIGSTOP; it stands still when this returns.
    void freeze() const;
    /// Waits for its end.  Its exit status, or 128 and the signal, as a shell says it.
    int wait();
    /// Waits for its end and leaves its status to be had: a zombie.
    void become_zombie() const;
    bool has_ended() const { return status_.has_value(); }

  private:
    pid_t pid_ = -1;
    Fd pidfd_;
    std::optional<int> status_;
};

/// Children of the test that it holds no Process of: what its own processes started and left.
std::vector<pid_t> orphans();

/// A pipe whose ends do not leak into children.
struct Pipe {
    Pipe();
    Fd reading;
    Fd writing;
};

/// Adds to `text` what is there now.  False at the end of the stream.
bool read_available(int fd, std::string& text);
/// Blocks until the end of the stream.
std::string read_to_end(int fd);

struct Outcome {
    int status = 0;
    std::string out;
    std::string err;
};

/// Runs a command to its end; `in`, `out` and `err` of `spawn` are taken by this.
Outcome run_command(Spawn spawn, std::string_view input = {});

}  // namespace knell::functional
