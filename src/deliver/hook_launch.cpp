#include "deliver/hook_launch.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>

#include "base/check.hpp"
#include "deliver/hook_output.hpp"

namespace knell {

namespace {

/// Whatever else the daemon has open, the store and its lock first of all, is none of a hook's.
class FileActions {
  public:
    explicit FileActions(const HookLaunch& order) {
        // These fail only for want of memory.
        CHECK(posix_spawn_file_actions_init(&actions_) == 0);
        CHECK(posix_spawn_file_actions_adddup2(&actions_, order.input, STDIN_FILENO) == 0);
        CHECK(posix_spawn_file_actions_adddup2(&actions_, order.output, STDOUT_FILENO) == 0);
        CHECK(posix_spawn_file_actions_adddup2(&actions_, order.output, STDERR_FILENO) == 0);
        CHECK(posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1) == 0);
        CHECK(posix_spawn_file_actions_addchdir_np(&actions_, order.directory.c_str()) == 0);
    }
    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;

    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

/// A session of its own, not just a group: without a terminal to ask on, what wants a password
/// fails at once instead of waiting for one until its time is over.
class Attributes {
  public:
    Attributes() {
        sigset_t all;
        sigset_t none;
        sigfillset(&all);
        sigemptyset(&none);
        CHECK(posix_spawnattr_init(&attributes_) == 0);
        CHECK(posix_spawnattr_setsigdefault(&attributes_, &all) == 0);  // we ignore SIGPIPE
        CHECK(posix_spawnattr_setsigmask(&attributes_, &none) == 0);
        constexpr int flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
        CHECK(posix_spawnattr_setflags(&attributes_, flags) == 0);
    }
    ~Attributes() { posix_spawnattr_destroy(&attributes_); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;

    const posix_spawnattr_t* get() const { return &attributes_; }

  private:
    posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    // The type is C's; exec copies and never writes.
    for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

/// The kernel's words for these lead astray: it says that a script is missing when its interpreter
/// is, and nothing of the directory.
std::string why_not(const HookLaunch& order, int error) {
    const auto& program = order.argv.front();
    std::error_code unreadable;
    if (!std::filesystem::is_directory(order.directory, unreadable)) {
        return fmt::format("its directory {} is not there", order.directory);
    }
    const bool is_path = program.contains('/');
    const bool is_file = std::filesystem::is_regular_file(program, unreadable);
    if (error == ENOEXEC) return "not a program: no #! line";
    if (error == ENOENT && !is_path) return "not found in PATH";
    if (error == ENOENT && is_file) return "the interpreter that its #! line names is not there";
    if (error == EACCES && is_file && access(program.c_str(), X_OK) != 0) {
        return "not executable: chmod +x it";
    }
    return std::generic_category().message(error);
}

}  // namespace

Result<pid_t> launch(const HookLaunch& order) {
    CHECK(!order.argv.empty());
    const FileActions actions(order);
    const Attributes attributes;
    const auto argv = pointers_to(order.argv);
    const auto environment = pointers_to(order.environment);
    pid_t pid = 0;
    const int error = posix_spawnp(&pid, argv.front(), actions.get(), attributes.get(), argv.data(),
                                   environment.data());
    if (error == 0) return pid;
    return fail(ErrorCode::internal,
                printable_line(
                    fmt::format("cannot run {}: {}", order.argv.front(), why_not(order, error))));
}

Result<Fd> input_of(std::string_view text) {
    const auto failed = [] {
        return fail(ErrorCode::internal, fmt::format("cannot hold the event for its input: {}",
                                                     std::generic_category().message(errno)));
    };
    Fd file{memfd_create("knell-event", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (!file) return failed();
    while (!text.empty()) {
        const auto written = ::write(file.get(), text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failed();
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    // All that the hook starts may hold it too: none can change what another reads.
    constexpr int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    if (fcntl(file.get(), F_ADD_SEALS, seals) != 0) return failed();
    if (lseek(file.get(), 0, SEEK_SET) != 0) return failed();
    return file;
}

}  // namespace knell
