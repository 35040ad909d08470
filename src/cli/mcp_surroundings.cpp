#include "cli/mcp_surroundings.hpp"

#include <chrono>
#include <filesystem>

#include <unistd.h>

#include "base/text.hpp"
#include "client/exit_watch.hpp"
#include "client/start_daemon.hpp"
#include "config/config.hpp"
#include "platform/environment.hpp"
#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"

namespace knell::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t ancestors_max = 64;
/// SIGTERM, five seconds, SIGKILL.  An agent waits meanwhile, and hears of what takes longer.
constexpr auto gone_within = 8s;

/// What JSON cannot hold is as good as missing.
std::string as_text(std::string value) {
    return is_utf8(value) ? std::move(value) : std::string{};
}

}  // namespace

Result<void> McpSurroundings::connect() {
    if (connection_) return {};
    auto connected = client::connect_or_start(paths_, variables_in_config,
                                              client::Deadline{client::start_timeout_default});
    if (!connected) return std::unexpected(std::move(connected.error()));
    connection_ = std::move(*connected);
    return {};
}

Result<JsonObject> McpSurroundings::call_once(std::string_view method, const JsonObject& params) {
    if (auto connected = connect(); !connected) {
        return std::unexpected(std::move(connected.error()));
    }
    auto result = connection_->call_object(method, params);
    // A late answer would be taken for the next one's.
    if (!result && result.error().code == ErrorCode::unreachable) connection_.reset();
    return result;
}

Result<JsonObject> McpSurroundings::call(std::string_view method, const JsonObject& params) {
    const bool was_connected = connection_.has_value();
    // Everything but a start may be said twice.  Before that it is made sure that somebody
    // listens: a daemon that was restarted since the last call is the usual reason for a failure.
    if (method == "process.start" && was_connected) {
        if (auto alive = call("node.status", {}); !alive) return alive;
    }
    auto result = call_once(method, params);
    if (result || connection_ || !was_connected || method == "process.start") {
        if (!result && !connection_ && method == "process.start") {
            result.error().message += "; whether it was started, process_list tells";
        }
        return result;
    }
    return call_once(method, params);
}

Result<JsonObject> McpSurroundings::wait_until_gone(std::string_view process_id) {
    // On a connection of its own: what it follows would pile up on the other.
    auto connection = client::connect_or_start(paths_, variables_in_config,
                                               client::Deadline{client::start_timeout_default});
    if (!connection) return std::unexpected(std::move(connection.error()));
    auto watch = client::ExitWatch::begin(*connection);
    if (!watch) return std::unexpected(std::move(watch.error()));
    return watch->wait(process_id, client::Deadline{gone_within});
}

std::string McpSurroundings::named_session() {
    return as_text(environment_variable("KNELL_SESSION_ID"));
}

std::vector<pid_t> McpSurroundings::ancestors() {
    // In another pid namespace the daemon's numbers name strangers.
    const auto status = call("node.status", {});
    if (!status || !connection_ || connection_->peer() != wire::int_at(*status, "pid")) return {};
    if (!proc_counts_as_we_do()) return {};
    std::vector<pid_t> above;
    for (pid_t pid = ::getppid(); pid > 1 && above.size() < ancestors_max;) {
        above.push_back(pid);
        const auto stat = read_proc_stat(pid);
        if (!stat) break;
        pid = stat->parent;
    }
    return above;
}

std::string McpSurroundings::directory() {
    std::error_code error;
    const auto path = std::filesystem::current_path(error).string();
    return error ? std::string{} : as_text(path);
}

std::string McpSurroundings::search_path() {
    return as_text(environment_variable("PATH"));
}

}  // namespace knell::cli
