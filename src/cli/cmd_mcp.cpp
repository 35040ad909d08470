#include <array>
#include <cerrno>
#include <cstdio>
#include <expected>
#include <system_error>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/mcp_surroundings.hpp"
#include "cli/output.hpp"
#include "core/limits.hpp"
#include "mcp/line_cutter.hpp"
#include "mcp/server.hpp"
#include "platform/version.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Speaks the Model Context Protocol on standard input and output, one message a line, until its input
ends: for agents, which start it by themselves once they are told to. A daemon is started if none
runs. The tools: session_status, process_list, process_start, process_output, process_stop and
process_vouch.

The session that a call is about is the one it names, else $KNELL_SESSION_ID, else the open session
whose owner is the nearest process above this one.

Examples:
  claude mcp add knell -- knell mcp
  codex mcp add knell -- knell mcp
  gemini mcp add knell knell mcp

Exit status: 0 its input ended, 1 it could not be read or answered, 2 wrong usage.)";

class Mcp final : public Command {
  public:
    void declare(CLI::App& app) override { app.footer(footer); }

    int run(const Context& context) override {
        McpSurroundings surroundings(context.paths);
        mcp::Server server(surroundings, {.version = std::string(version)});
        mcp::LineCutter lines(limits::line_bytes_max);
        bool has_ended = false;
        while (!has_ended || server.has_work()) {
            // What is there already is taken before more is answered: it may be cancelled.
            while (!has_ended && server.has_room() && is_input_there(!server.has_work())) {
                const auto count = read_some(lines);
                if (!count) {
                    return complain("mcp",
                                    fmt::format("cannot read standard input: {}",
                                                std::generic_category().message(count.error())));
                }
                has_ended = *count == 0;
                take_lines(lines, server);
            }
            take_lines(lines, server);
            print(server.answer_next());
            if (std::fflush(stdout) != 0) return exit_failed;  // finish_output tells why
        }
        return exit_done;
    }

  private:
    static bool is_input_there(bool may_wait) {
        pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
        return ::poll(&input, 1, may_wait ? -1 : 0) > 0;
    }

    /// 0 at the end.
    static std::expected<std::size_t, int> read_some(mcp::LineCutter& lines) {
        std::array<char, 65'536> chunk{};
        const auto count = ::read(STDIN_FILENO, chunk.data(), chunk.size());
        if (count < 0 && errno != EINTR && errno != EAGAIN) return std::unexpected(errno);
        if (count <= 0) return count == 0 ? 0U : 1U;
        lines.add({chunk.data(), static_cast<std::size_t>(count)});
        return static_cast<std::size_t>(count);
    }

    static void take_lines(mcp::LineCutter& lines, mcp::Server& server) {
        std::string line;
        while (server.has_room()) {
            switch (lines.next(line)) {
                case mcp::LineCutter::Cut::line:
                    server.receive(line);
                    break;
                case mcp::LineCutter::Cut::too_long:
                    server.receive_too_long();
                    break;
                case mcp::LineCutter::Cut::none:
                    return;
            }
        }
    }
};

}  // namespace

std::unique_ptr<Command> make_mcp() {
    return std::make_unique<Mcp>();
}

}  // namespace knell::cli
