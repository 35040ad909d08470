#include "background/launcher.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/shortage.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// To fork, and to enter a directory that may be on a slow disk.
constexpr auto prepare_max = 5s;
/// Where programs are when nobody says.
constexpr std::string_view default_search_path = "/usr/local/bin:/usr/bin:/bin";

std::string text_of(int error) {
    return std::generic_category().message(error);
}

std::string_view name_in(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
    std::string value;
    for (const std::string_view entry : environment) {
        if (name_in(entry) == name) value = entry.substr(std::min(name.size() + 1, entry.size()));
    }
    return value;
}

enum class Is : std::uint8_t { program, not_executable, directory, special, nothing };

Is look_at(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) return Is::nothing;
    if (S_ISDIR(found.st_mode)) return Is::directory;
    if (!S_ISREG(found.st_mode)) return Is::special;
    return ::access(path.c_str(), X_OK) == 0 ? Is::program : Is::not_executable;
}

std::string join(const std::string& directory, std::string_view name) {
    return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
}

Result<void> check_directory(const std::string& cwd) {
    struct stat found{};
    if (::stat(cwd.c_str(), &found) != 0) {
        return bad_field("cwd", fmt::format("cannot run in {}: {}", cwd, text_of(errno)));
    }
    if (!S_ISDIR(found.st_mode)) return bad_field("cwd", cwd + " is not a directory");
    return {};
}

/// What there is too little of, and what to do about it.
std::string_view shortage_words(int error) {
    switch (error) {
        case EAGAIN:  // of fork: what `ulimit -u`, or a cgroup, allows
            return "the daemon's user has as many processes as it may; end some, or raise the "
                   "limit (ulimit -u, or TasksMax of its service) and restart the daemon";
        case EMFILE:
            return "the daemon has as many descriptors as it may; stop some processes, or raise "
                   "the limit (ulimit -n) and restart the daemon";
        case ENFILE:
            return "the host has as many open files as it may; close some, or raise fs.file-max";
        default:
            return "the host is short of memory; end something that uses much of it";
    }
}

std::unexpected<Error> cannot_start(const SpawnFailure& failure, const LaunchOrder& order) {
    if (is_shortage(failure.error)) {
        return fail(ErrorCode::limit,
                    fmt::format("cannot start a process for now: {} ({})",
                                shortage_words(failure.error), text_of(failure.error)));
    }
    if (failure.step == SpawnStep::directory) {
        return bad_field("cwd",
                         fmt::format("cannot run in {}: {}", order.cwd, text_of(failure.error)));
    }
    return fail(ErrorCode::internal,
                fmt::format("cannot start a process: {}", text_of(failure.error)));
}

ChildSpec spec_of(const LaunchOrder& order, std::string program, const Fd& output) {
    return {.program = ProgramAt{std::move(program)},
            .argv = order.argv,
            .environment = order.environment,
            .late_variable = "KNELL_GENERATION",
            .descriptors = {{output.get(), STDOUT_FILENO}, {output.get(), STDERR_FILENO}},
            .null_descriptors = {STDIN_FILENO},
            .closes_others = true,
            .group = ChildSpec::Group::own_session,
            .directory_path = order.cwd};
}

}  // namespace

std::vector<std::string> without_doubles(std::vector<std::string> environment) {
    std::set<std::string, std::less<>> seen;
    std::vector<std::string> kept;
    for (auto entry = environment.rbegin(); entry != environment.rend(); ++entry) {
        if (seen.emplace(name_in(*entry)).second) kept.push_back(std::move(*entry));
    }
    std::ranges::reverse(kept);
    return kept;
}

Result<std::string> find_program(const std::string& name, const std::string& cwd,
                                 const std::vector<std::string>& environment) {
    if (name.empty()) return bad_field("argv", "its first word, the program, is empty");
    const auto refuse = [&](const std::string& path) {
        return bad_field("argv", fmt::format("{} is not executable; chmod +x it", path));
    };
    if (name.contains('/')) {
        auto path = name.starts_with('/') ? name : join(cwd, name);
        switch (look_at(path)) {
            case Is::program:
                return path;
            case Is::not_executable:
                return refuse(path);
            case Is::directory:
                return bad_field("argv", fmt::format("{} is a directory, not a program", path));
            case Is::special:
                return bad_field("argv", fmt::format("{} is no file that can be executed", path));
            case Is::nothing:
                return bad_field("argv", fmt::format("there is no program {}", path));
        }
    }
    const auto set = value_of(environment, "PATH");
    std::string_view path = set.empty() ? default_search_path : std::string_view(set);
    std::string unusable;
    while (!path.empty()) {
        const auto part = path.substr(0, path.find(':'));
        path.remove_prefix(std::min(part.size() + 1, path.size()));
        // An empty one is the directory it runs in, and so is what a relative one begins with.
        const auto directory =
            part.starts_with('/') ? std::string(part) : join(cwd, part.empty() ? "." : part);
        auto candidate = join(directory, name);
        const auto is = look_at(candidate);
        if (is == Is::program) return candidate;
        if (is == Is::not_executable && unusable.empty()) unusable = candidate;
    }
    if (!unusable.empty()) return refuse(unusable);
    return bad_field("argv", fmt::format("the program {} is not in the PATH of the process; "
                                         "install it, or say where it is",
                                         name));
}

std::string why_not_executed(const SpawnFailure& failure, const std::string& program) {
    if (failure.error == ENOEXEC) {
        return fmt::format("{} could not be executed: not a program, and no #! line", program);
    }
    if (failure.error == ENOENT) {
        return fmt::format(
            "{} could not be executed: it, or the interpreter its #! line names, is "
            "not there",
            program);
    }
    return fmt::format("{} could not be executed: {}", program, text_of(failure.error));
}

Result<Launched> launch(LaunchOrder order, OutputFiles& outputs, const ProcessTable& table,
                        pid_t& unreaped) {
    if (auto is_there = check_directory(order.cwd); !is_there) {
        return std::unexpected(is_there.error());
    }
    for (const auto& [name, value] : {std::pair{"KNELL_SESSION_ID", order.session_id.text()},
                                      {"KNELL_SOCKET", order.socket},
                                      {"KNELL_PROCESS_ID", order.id.text()}}) {
        order.environment.push_back(fmt::format("{}={}", name, value));
    }
    order.environment = without_doubles(std::move(order.environment));
    // Its own comes when it is let go.
    std::erase_if(order.environment,
                  [](const auto& entry) { return name_in(entry) == "KNELL_GENERATION"; });
    auto program = find_program(order.argv.front(), order.cwd, order.environment);
    if (!program) return std::unexpected(std::move(program.error()));
    const auto output = outputs.create(order.id);
    if (!output) return std::unexpected(output.error());
    auto child = GatedChild::start(spec_of(order, *program, *output), prepare_max);
    if (!child) {
        outputs.remove(order.id);
        unreaped = child.error().unreaped;
        return cannot_start(child.error().what, order);
    }
    auto process = table.identify(child->pid());
    if (!process) {
        outputs.remove(order.id);
        unreaped = child->pid();  // it goes when `child` does
        return cannot_start({SpawnStep::pidfd, is_shortage(errno) ? errno : ECHILD}, order);
    }
    return Launched{std::move(*child), std::move(*process)};
}

}  // namespace knell
