#include "cli/claude_surroundings.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "cli/agent_process.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "client/connect.hpp"
#include "platform/clock.hpp"
#include "platform/environment.hpp"

namespace knell::cli {

namespace {

using std::chrono::milliseconds;

/// An agent waits meanwhile, so a daemon that hangs must not cost it more; on a machine that is
/// busy a few milliseconds may become a second.
constexpr milliseconds wait_max{2'000};

Result<std::string> read_input() {
    std::string text;
    std::array<char, 65'536> piece{};
    for (;;) {
        const auto count = ::read(STDIN_FILENO, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            return fail(ErrorCode::storage, fmt::format("cannot read standard input: {}",
                                                        std::generic_category().message(errno)));
        }
        if (count == 0) return text;
        if (text.size() + static_cast<std::size_t>(count) > client::claude_event_bytes_max) {
            return fail(ErrorCode::limit, fmt::format("standard input is longer than {} bytes",
                                                      client::claude_event_bytes_max));
        }
        text.append(piece.data(), static_cast<std::size_t>(count));
    }
}

Result<std::string> handle(const Paths& paths) {
    const auto input = read_input();
    if (!input) return input;
    const auto event = client::parse_claude_event(*input);
    if (!event) return std::unexpected(event.error());
    RealClaudeSurroundings surroundings(paths, wait_max);
    return client::ClaudeHook(surroundings).handle(*event);
}

}  // namespace

Result<JsonObject> RealClaudeSurroundings::call(std::string_view method, const JsonObject& params) {
    if (!connection_) {
        auto connected = client::connect(paths_, deadline_);
        if (!connected) return std::unexpected(std::move(connected.error()));
        connection_ = std::move(*connected);
    }
    auto result = connection_->call(method, params, deadline_);
    if (!result) {
        // A late answer would be taken for the next one's.
        if (result.error().code == ErrorCode::unreachable) connection_.reset();
        return std::unexpected(std::move(result.error()));
    }
    const auto* object = result->if_object();
    return object == nullptr ? JsonObject{} : *object;
}

std::optional<client::ClaudeSurroundings::Run> RealClaudeSurroundings::run() {
    auto id = environment_variable("KNELL_SESSION_ID");
    const auto generation = number_in<Generation>(environment_variable("KNELL_GENERATION"));
    if (why_not_an_id(id) || generation == 0) return std::nullopt;
    return Run{SessionId(std::move(id)), generation};
}

std::optional<pid_t> RealClaudeSurroundings::agent() {
    const auto named = number_in<pid_t>(environment_variable("CLAUDE_PID"));
    return agent_process(named > 1 ? std::optional(named) : std::nullopt);
}

Result<void> RealClaudeSurroundings::spool(const SessionId& session,
                                           std::span<const client::SpoolRecord> records) {
    return client::append_to_spool(paths_.spool_dir, session, records);
}

WallTime RealClaudeSurroundings::now() {
    return read_clocks().wall;
}

int run_claude_hook(const Paths& paths) {
    const auto said = handle(paths);
    if (said) {
        if (!said->empty()) print_line(*said);
        finish_output(exit_done);
    } else if (said.error().code != ErrorCode::unreachable) {
        // Without a daemon nothing is wrong.  Claude Code shows this to who debugs its hooks.
        complain("hook claude-code", said.error());
    }
    return exit_done;
}

}  // namespace knell::cli
