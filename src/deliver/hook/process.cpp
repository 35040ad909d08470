#include "deliver/hook/process.hpp"

#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/limits.hpp"
#include "deliver/hook/command.hpp"
#include "deliver/hook/environment.hpp"
#include "deliver/hook/launch.hpp"
#include "platform/environment.hpp"
#include "platform/marked_run.hpp"
#include "platform/output_pipe.hpp"
#include "platform/program_environment.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// Between asking a hook to end and killing it.
constexpr auto end_grace = 2s;

/// Everything that will be run is looked at now, not when the hook was read: who could change it
/// since then could have had it run.
Result<HookCommand> command_of(const HookSpec& spec) {
    const auto search_path = environment_variable("PATH");
    auto command = open_hook_command(
        spec.directory, {spec.argv, spec.is_python_handler},
        search_path.empty() ? default_search_path : std::string_view(search_path));
    if (command) return std::move(*command);
    const auto& problem = command.error().what;
    const auto& program = spec.argv.front();
    return fail(
        command.error().is_shortage ? ErrorCode::limit : ErrorCode::unauthorized,
        printable_line(fmt::format("cannot run {}: {}", program,
                                   problem.file == program ? problem.message : to_text(problem))));
}

}  // namespace

Result<std::unique_ptr<HookProcess>> HookProcess::start(const HookSpec& spec,
                                                        const RenderedEvent& rendered,
                                                        const std::string& node, SteadyTime now) {
    // A line, for those who read lines.
    auto input = input_of(rendered.json + '\n');
    if (!input) return std::unexpected(std::move(input.error()));
    auto pipe = open_output_pipe();
    if (!pipe) return std::unexpected(std::move(pipe.error()));
    const auto command = command_of(spec);
    if (!command) return std::unexpected(command.error());
    auto environment = hook_environment(environ, rendered);
    if (!environment) return std::unexpected(std::move(environment.error()));
    const auto run = run_of_ours(node, spec.name);
    // A mark that does not name this daemon would let another one take the hook for an orphan.
    if (run.daemon_start_ticks == 0) {
        return fail(ErrorCode::limit, "cannot mark it as ours: /proc/self/stat cannot be read");
    }
    const auto mark = text_before_group(run);
    auto started = launch({.command = *command,
                           .environment = std::move(*environment),
                           .input = input->get(),
                           .output = pipe->writer.get(),
                           .mark_variable = hook_run_variable,
                           .mark = mark});
    if (!started) return std::unexpected(std::move(started.error()));
    return std::unique_ptr<HookProcess>(
        new HookProcess(*std::move(started), std::move(pipe->reader), spec.timeout, now));
}

HookProcess::HookProcess(Spawned started, Fd output, std::chrono::seconds timeout, SteadyTime now)
    : group_(std::move(started)),
      output_fd_(std::move(output)),
      timeout_(timeout),
      next_deadline_(now + timeout) {}

void HookProcess::add_descriptors(std::vector<pollfd>& out) const {
    for (const auto fd : {group_.pidfd(), output_fd_.get()}) {
        if (fd >= 0) out.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    }
}

std::optional<Outcome> HookProcess::step(SteadyTime now) {
    read_some_output();
    // In this order: one that made it just in time made it, however late we come to look.
    if (auto outcome = outcome_of_exit()) return outcome;
    return enforce_deadline(now);
}

void HookProcess::read_some_output() {
    read_output(output_fd_, limits::hook_output_bytes_per_step_max,
                [this](std::string_view bytes) { output_.append(bytes); });
}

std::optional<Outcome> HookProcess::outcome_of_exit() {
    const auto exit = group_.look();
    if (!exit) return std::nullopt;
    if (exit->how == ChildExit::How::lost) return finish(Outcome::Kind::failed, to_text(*exit));
    read_some_output();  // what it printed since we last read, and then ended
    if (asked_to_end_) return finish_overdue();
    if (exit->is_success()) return finish(Outcome::Kind::delivered, to_text(*exit));
    const bool exited = exit->how == ChildExit::How::exited;
    const auto said = exited ? output_.last_line() : std::string{};
    return finish(Outcome::Kind::failed,
                  fmt::format("{}{}{}", to_text(*exit), said.empty() ? "" : ": ", said));
}

std::optional<Outcome> HookProcess::enforce_deadline(SteadyTime now) {
    if (!next_deadline_ || now < *next_deadline_) return std::nullopt;
    if (asked_to_end_) return finish_overdue();
    asked_to_end_ = true;
    next_deadline_ = now + end_grace;
    group_.signal(SIGTERM);
    return std::nullopt;
}

Outcome HookProcess::finish(Outcome::Kind kind, std::string what) {
    kill();
    reap();
    return {.kind = kind,
            .what = std::move(what),
            .output = output_.text(),
            .retry_after = std::nullopt};
}

Outcome HookProcess::finish_overdue() {
    return finish(Outcome::Kind::failed, fmt::format("timed out after {} s", timeout_.count()));
}

void HookProcess::kill() {
    group_.signal(SIGKILL);
    output_fd_.reset();
    next_deadline_.reset();
}

}  // namespace knell
