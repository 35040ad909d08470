#include "summarize/launch.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "platform/file_trust.hpp"
#include "platform/marked_run.hpp"
#include "platform/program_environment.hpp"
#include "platform/shortage.hpp"

namespace knell {

namespace {

using Environment = std::vector<std::string>;

/// It is not the provider that is at fault.
ErrorCode code_of(int error) {
    return is_shortage(error) ? ErrorCode::limit : ErrorCode::internal;
}

std::unexpected<Error> refusal(std::string why) {
    return fail(ErrorCode::internal, std::move(why));
}

std::string message_of(int error) {
    return std::generic_category().message(error);
}

/// A descriptor with a place of its own: what an earlier provider left running reads on from where
/// it is, and takes nothing from the next.
Result<Fd> open_input(const Fd& input) {
    Fd anew{open(fmt::format("/proc/self/fd/{}", input.get()).c_str(), O_RDONLY | O_CLOEXEC)};
    if (!anew) {
        const int error = errno;
        return fail(code_of(error), fmt::format("cannot open its input: {}", message_of(error)));
    }
    return anew;
}

std::string_view search_path_in(const Environment& environment) {
    constexpr std::string_view name = "PATH=";
    const auto found = std::ranges::find_if(
        environment, [&](const auto& entry) { return entry.starts_with(name); });
    if (found == environment.end()) return default_search_path;
    return std::string_view(*found).substr(name.size());
}

/// The path of the program that a command names.
Result<std::string> find_program(const std::string& named, std::string_view search_path) {
    if (named.starts_with('/')) return named;
    if (named.contains('/')) return refusal("give its whole path, or a name in the PATH");
    while (!search_path.empty()) {
        auto path = fmt::format("{}/{}", take_field(search_path, ':'), named);
        if (access(path.c_str(), X_OK) == 0) return path;
        if (is_shortage(errno)) return fail(ErrorCode::limit, message_of(errno));
    }
    return refusal("it is not in the PATH of the daemon");
}

/// The same, found to be only ours.
Result<std::string> program_of(const std::string& named, const Environment& environment) {
    auto path = find_program(named, search_path_in(environment));
    if (!path) return path;
    const auto trusted = check_only_ours(*path);
    if (trusted) return path;
    if (trusted.error().code == ErrorCode::not_found) return refusal("it is not there");
    return std::unexpected(trusted.error());
}

Result<Environment> environment_of(const SummaryJob& job) {
    auto base = base_environment(environ);
    if (!base) return base;
    // Without KNELL_SOCKET: beside it this would mark the processes of a session, and a provider
    // must not be taken for something the session left behind.
    add_variable(*base, "KNELL_SESSION_ID", job.session_id.text());
    return *std::move(base);
}

/// Without its group.  A mark that does not name this daemon would let another one take the
/// provider for an orphan.
Result<std::string> mark_of(const Provider& provider, const SummaryJob& job) {
    const auto run = run_of_ours(job.node, provider.name);
    if (run.daemon_start_ticks != 0) return text_before_group(run);
    return fail(ErrorCode::limit,
                fmt::format("cannot mark it as ours: /proc/self/stat: {}", message_of(errno)));
}

std::string words_for(const SpawnFailure& failure) {
    if (failure.step == SpawnStep::pidfd) {
        return fmt::format("it cannot be watched: {}", message_of(failure.error));
    }
    if (failure.step == SpawnStep::program && failure.error == ENOENT) {
        return "the interpreter that its #! line names is not there";
    }
    if (failure.step == SpawnStep::program && failure.error == ENOEXEC) {
        return "not a program: no #! line";
    }
    return message_of(failure.error);
}

}  // namespace

Result<Spawned> launch_provider(const Provider& provider, const SummaryJob& job,
                                const ProviderOutputs& outputs) {
    if (provider.command.empty() || provider.command.front().empty()) {
        return refusal("has no command");
    }
    const auto refuse = [&](const Error& error) {
        return fail(error.code, printable_line(fmt::format(
                                    "cannot run {}: {}", provider.command.front(), error.message)));
    };
    const auto input = open_input(job.input);
    if (!input) return std::unexpected(input.error());
    auto environment = environment_of(job);
    if (!environment) return refuse(environment.error());
    const auto mark = mark_of(provider, job);
    if (!mark) return std::unexpected(mark.error());
    const auto program = program_of(provider.command.front(), *environment);
    if (!program) return refuse(program.error());
    auto started = spawn({
        .program = ProgramAt{*program},
        .argv = provider.command,
        .environment = *std::move(environment),
        .pid_variable = fmt::format("{}={}", summary_run_variable, *mark),
        .late_variable = {},
        .descriptors = {{input->get(), STDIN_FILENO},
                        {outputs.output, STDOUT_FILENO},
                        {outputs.errors, STDERR_FILENO}},
        .null_descriptors = {},
        .closes_others = true,
        // Not just a group: without a terminal to ask on, what wants a password fails at once
        // instead of waiting for one until its time is over.
        .group = ChildSpec::Group::own_session,
        .death_signal = SIGKILL,
        .directory_path = "/",
        .umask = {},
    });
    if (!started) {
        return refuse({code_of(started.error().error), words_for(started.error()), {}, {}});
    }
    return *std::move(started);
}

}  // namespace knell
