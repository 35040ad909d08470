#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include "platform/paths.hpp"
#include "web_client.hpp"

namespace knell::bench {

/// The paths of a daemon whose KNELL_HOME is `home`, whatever this process's environment says.
Paths paths_in(const std::string& home);

/// Resident memory in bytes, as the kernel counts it.
struct Memory {
    std::int64_t resident = 0;
    std::int64_t proportional = 0;  // shared pages divided among those who share them
    std::int64_t anonymous = 0;     // without mapped files: program text, SQLite's shared index
};

Memory memory_of(pid_t pid);

/// Bytes that a process has caused to be written to disk so far.
std::int64_t disk_bytes_of(pid_t pid);

/// `knell up`, a real one, in a home of its own.  Ends with this object, and with this process.
class DaemonUnderTest {
  public:
    enum class Http : bool { off, on };
    /// Returns once the daemon has answered node.status.
    DaemonUnderTest(std::string program, std::string home, Http http = Http::off);
    ~DaemonUnderTest();
    DaemonUnderTest(const DaemonUnderTest&) = delete;
    DaemonUnderTest& operator=(const DaemonUnderTest&) = delete;

    /// Seconds from just before fork and exec to the first answer.
    double seconds_to_answer() const { return seconds_to_answer_; }
    const std::string& socket() const { return paths_.socket; }
    pid_t pid() const { return pid_; }
    /// Where it serves HTTP, with the token that may do everything.
    WebAddress web() const;

    Memory memory() const { return memory_of(pid_); }
    /// User and system seconds of all its threads so far.
    double cpu_seconds() const;

    /// SIGKILL: what a power cut does to a process.
    void kill();
    /// SIGTERM, and waits.
    void stop();

  private:
    void end(int signal);
    void wait_for_answer();

    const std::string program_;
    const Paths paths_;
    pid_t pid_ = -1;
    double seconds_to_answer_ = 0;
};

}  // namespace knell::bench
