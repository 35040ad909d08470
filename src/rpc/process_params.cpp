#include "rpc/process_params.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/duration_text.hpp"
#include "base/text.hpp"
#include "wire/output_text.hpp"

namespace knell::rpc {

ProcessId read_process_id(wire::FieldReader& given, std::string text) {
    if (auto why = why_not_a_process_id(text)) given.reject("process_id", std::move(*why));
    return ProcessId(std::move(text));
}

std::vector<std::string> read_argv(wire::FieldReader& given, const JsonArray* words) {
    std::vector<std::string> argv;
    if (words == nullptr) return argv;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < words->size() && !given.error(); ++i) {
        const auto name = fmt::format("argv[{}]", i);
        const auto* word = (*words)[i].if_string();
        if (word == nullptr) {
            given.reject(name, "must be a string");
            break;
        }
        if (word->find('\0') != std::string::npos) given.reject(name, "must not hold NUL");
        if (i == 0 && word->empty()) given.reject(name, "names no program; it must not be empty");
        argv.emplace_back(std::string_view(*word));
        bytes += word->size() + 1;
    }
    if (bytes > limits::process_argv_bytes_max) {
        given.reject("argv", fmt::format("is {} bytes long; at most {} are allowed", bytes,
                                         limits::process_argv_bytes_max));
    }
    return argv;
}

namespace {

/// As much of a name as helps to find it.
std::string shown_name(std::string_view name) {
    constexpr std::size_t bytes_max = 64;
    if (name.size() <= bytes_max) return std::string(name);
    name = name.substr(0, bytes_max);
    return fmt::format("{}…", name.substr(0, name.size() - wire::unfinished_bytes(name)));
}

/// What is wrong with a name, or "".
std::string why_not_a_variable(std::string_view name) {
    if (name.empty()) return "holds a variable without a name";
    if (has_control_character(name)) return "holds a name with control characters in it";
    // Who passes NAME=value as a name has put a value into it: that is not repeated.
    if (const auto end = name.find('='); end != std::string_view::npos) {
        return fmt::format("holds a name with = in it, behind \"{}\"; give {{NAME: value}}",
                           shown_name(name.substr(0, end)));
    }
    if (name.starts_with("KNELL_")) {
        return fmt::format("holds {}: names that begin with KNELL_ are set by the daemon",
                           shown_name(name));
    }
    return {};
}

}  // namespace

std::vector<std::string> read_environment(wire::FieldReader& given, const JsonObject* variables) {
    std::vector<std::string> environment;
    if (variables == nullptr) return environment;
    if (variables->size() > limits::process_variables_max) {
        given.reject("env", fmt::format("holds {} variables; at most {} are allowed",
                                        variables->size(), limits::process_variables_max));
        return environment;
    }
    std::size_t bytes = 0;
    for (const auto& [name, value] : *variables) {
        const auto* text = value.if_string();
        if (auto why = why_not_a_variable(name); !why.empty()) {
            given.reject("env", std::move(why));
        } else if (text == nullptr) {
            given.reject("env",
                         fmt::format("holds {}, whose value must be a string", shown_name(name)));
        } else if (text->find('\0') != std::string::npos) {
            given.reject("env",
                         fmt::format("holds {}, whose value must not hold NUL", shown_name(name)));
        }
        if (given.error()) return {};
        environment.push_back(
            fmt::format("{}={}", std::string_view(name), std::string_view(*text)));
        bytes += environment.back().size() + 1;
    }
    if (bytes > limits::process_environment_bytes_max) {
        given.reject("env", fmt::format("is {} bytes long; at most {} are allowed", bytes,
                                        limits::process_environment_bytes_max));
    }
    return environment;
}

std::optional<WallTime> read_until(wire::FieldReader& given, std::string_view text, WallTime now) {
    if (text == "off") return std::nullopt;
    auto until = parse_any_rfc3339(text);
    const bool has_unit = !text.empty() && (text.back() < '0' || text.back() > '9');
    if (const auto duration = parse_duration(text, std::chrono::seconds{1});
        !until && has_unit && duration) {
        // Not added before it is known to be small: the sum has to fit.
        until = now + std::min<std::chrono::seconds>(*duration, 2 * limits::process_vouch_max);
    }
    if (!until) {
        given.reject("until",
                     "is neither a time such as 2026-05-18T10:00:00Z, nor a duration such as 2h, "
                     "nor `off`");
    } else if (*until <= now) {
        given.reject("until", "must be later than now; `off` takes an earlier word back");
    } else if (*until - now > limits::process_vouch_max) {
        given.reject("until", fmt::format("is more than {} days ahead; vouch for it again then",
                                          limits::process_vouch_max / std::chrono::days{1}));
    }
    return until;
}

namespace {

/// Somebody on HTTP has shown a token of the daemon's user.
uid_t uid_of(const Caller& caller, const Backend& here) {
    const auto* peer = std::get_if<UnixPeer>(&caller.who);
    return peer != nullptr ? peer->uid : here.processes().own_uid();
}

/// As text, and no more of it than of one that is started.
std::vector<std::string> bounded(std::vector<std::string> argv) {
    argv.resize(std::min(argv.size(), limits::process_words_max));
    std::size_t bytes = 0;
    for (auto& word : argv) {
        const auto room = limits::process_argv_bytes_max - bytes;
        auto text = wire::to_utf8(word);
        if (text.size() + 1 > room) {
            text.resize(room > 0 ? room - 1 : 0);
            text.resize(text.size() - wire::unfinished_bytes(text));
        }
        word = std::move(text);
        bytes += std::min(room, word.size() + 1);
    }
    return argv;
}

/// Why nobody may put it on record, or "".
std::string why_not_recorded(const RegisteredProcess& found, const Caller& caller,
                             const Backend& here) {
    if (here.processes().is_knell(found.process.pid)) return "is a process of knell";
    // Its words are always known but for a thread of the kernel, which has none.
    if (found.look.argv.empty()) {
        return "is a thread of the kernel, which nobody started and nothing stops";
    }
    // It is never stopped as part of anything else.
    if (!here.how_watched(found.process).empty()) {
        return "owns a session of its own, which ends with it; `knell ls` lists it";
    }
    const auto uid = uid_of(caller, here);
    if (uid != 0 && uid != found.look.uid) {
        return fmt::format("belongs to user {}, not to the caller", found.look.uid);
    }
    return {};
}

}  // namespace

namespace {

/// `role`: what it is to be.
RegisteredProcess read_process(wire::FieldReader& given, pid_t pid, const Caller& caller,
                               const Backend& here, std::string_view role) {
    if (given.error()) return {};
    const auto& processes = here.processes();
    const auto refuse = [&given](std::string why) {
        given.reject("pid", std::move(why));
        return RegisteredProcess{};
    };
    // A client on HTTP counts as the daemon does: it has no pids of its own.
    const bool is_http = std::holds_alternative<HttpClient>(caller.who);
    const auto counted_in = is_http ? processes.own_pid_namespace() : caller.pid_namespace();
    const auto located = processes.locate({pid, counted_in, /*start_ticks=*/0}, caller.pid());
    if (located.kind != Located::Kind::here) {
        return refuse(located.why + "; name a living process that the daemon can see");
    }
    if (pid == 1 || located.pid == 1) {
        return refuse(fmt::format("is the init process, which is nobody's {}", role));
    }
    const auto process = processes.identify(located.pid);
    if (!process) return refuse(fmt::format("no process {} runs here", pid));
    auto look = processes.look_of(*process);
    if (!look) return refuse(fmt::format("process {} is gone, or cannot be looked at", pid));
    look->argv = bounded(std::move(look->argv));
    look->cwd = wire::to_utf8(look->cwd);
    RegisteredProcess found{*process, std::move(*look)};
    if (process->pid != located.pid) {
        return refuse(fmt::format("is a thread of process {}; name that one", process->pid));
    }
    if (auto why = why_not_recorded(found, caller, here); !why.empty()) {
        return refuse(std::move(why));
    }
    return found;
}

}  // namespace

RegisteredProcess read_registered(wire::FieldReader& given, pid_t pid, const Caller& caller,
                                  const Backend& here) {
    auto found = read_process(given, pid, caller, here, "background process");
    if (!given.error() && found.process == caller.process()) {
        given.reject("pid", "is the caller itself, which is no background process of its session");
    }
    return found;
}

RegisteredProcess read_adopted(wire::FieldReader& given, pid_t pid, const Caller& caller,
                               const Backend& here) {
    return read_process(given, pid, caller, here, "session");
}

}  // namespace knell::rpc
