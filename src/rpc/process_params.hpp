#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/background_process.hpp"
#include "core/limits.hpp"
#include "rpc/backend.hpp"
#include "wire/given.hpp"
#include "wire/session_fields.hpp"

/// What the methods for background processes take in common.
namespace knell::rpc {

namespace process_rows {

using namespace wire::fields;

inline constexpr Field process_param{
    .name = "process_id", .type = text, .required = true, .about = "the process: p-..."};
inline constexpr Field task_param{
    .name = "task_id", .type = text, .about = "the task of the agent that it is for"};
inline constexpr Field process_title_param{
    .name = "title", .type = text, .max = limits::title_bytes_max, .about = "for people"};

}  // namespace process_rows

/// As `knell ps` shows it; what is none is refused.
ProcessId read_process_id(wire::FieldReader& given, std::string text);

/// The words of a program.  Any text but NUL, which cannot be handed to one.
std::vector<std::string> read_argv(wire::FieldReader& given, const JsonArray* words);

/// NAME=value each.  What is wrong is told without names and values: they may be secrets.
std::vector<std::string> read_environment(wire::FieldReader& given, const JsonObject* variables);

/// RFC 3339, or a duration from now; nothing for "off".
std::optional<WallTime> read_until(wire::FieldReader& given, std::string_view text, WallTime now);

/// A living process that somebody wants on record, with what it looks like.
struct RegisteredProcess {
    ProcessIdentity process;
    ProcessLook look;
};
/// By its pid as the caller counts.  Refuses whatever is no background process of the caller's.
RegisteredProcess read_registered(wire::FieldReader& given, pid_t pid, const Caller& caller,
                                  const Backend& here);
/// The same of one that is to become a session of its own; that may be the caller itself.
RegisteredProcess read_adopted(wire::FieldReader& given, pid_t pid, const Caller& caller,
                               const Backend& here);

}  // namespace knell::rpc
