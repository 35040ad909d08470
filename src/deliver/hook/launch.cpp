#include "deliver/hook/launch.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include "base/text.hpp"
#include "platform/shortage.hpp"

namespace knell {

namespace {

/// The kernel's words for these lead astray: it says that a script is missing when its interpreter
/// is.
std::string why_not(const HookCommand& command, int error) {
    const auto& program = command.argv.front();
    if (error == ENOEXEC) return "not a program: no #! line";
    if (error == ENOENT && command.is_script) {
        return "the interpreter that its #! line names is not there";
    }
    if (error == EACCES && access(program.c_str(), X_OK) != 0) return "not executable: chmod +x it";
    return std::generic_category().message(error);
}

std::string words_for(const HookCommand& command, const SpawnFailure& failure) {
    if (failure.step == SpawnStep::descriptors) {
        return "cannot start a process: too many open files";
    }
    if (failure.step == SpawnStep::pidfd) {
        return fmt::format("cannot watch it: {}", std::generic_category().message(failure.error));
    }
    return printable_line(
        fmt::format("cannot run {}: {}", command.argv.front(), why_not(command, failure.error)));
}

Program program_of(const HookCommand& command) {
    if (command.is_script) return ProgramAt{command.argv.front()};
    return ProgramIn{command.program.directory.get(), command.program.name};
}

}  // namespace

Result<Spawned> launch(const HookLaunch& order) {
    const auto& command = order.command;
    auto started = spawn({
        .program = program_of(command),
        .argv = command.argv,
        .environment = order.environment,
        .pid_variable = fmt::format("{}={}", order.mark_variable, order.mark),
        .descriptors = {{order.input, STDIN_FILENO},
                        {order.output, STDOUT_FILENO},
                        {order.output, STDERR_FILENO}},
        .closes_others = true,
        // Not just a group: without a terminal to ask on, what wants a password fails at once
        // instead of waiting for one until its time is over.
        .group = ChildSpec::Group::own_session,
        .death_signal = SIGKILL,
        .directory = command.directory.file.get(),
    });
    if (started) return *std::move(started);
    return fail(is_shortage(started.error().error) ? ErrorCode::limit : ErrorCode::internal,
                words_for(command, started.error()));
}

Result<Fd> input_of(std::string_view text) {
    const auto failed = [] {
        const int error = errno;
        return fail(is_shortage(error) ? ErrorCode::limit : ErrorCode::internal,
                    fmt::format("cannot hold the event for its input: {}",
                                std::generic_category().message(error)));
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
