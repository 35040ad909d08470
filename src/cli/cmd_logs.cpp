#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/daemon_log.hpp"
#include "cli/exit_status.hpp"
#include "cli/harmless_text.hpp"
#include "cli/output.hpp"
#include "cli/pager.hpp"
#include "cli/stop_signals.hpp"
#include "client/connect.hpp"
#include "client/process_words.hpp"
#include "core/limits.hpp"
#include "wire/base64.hpp"

namespace knell::cli {

namespace {

using namespace std::chrono_literals;
using wire::int_at;

constexpr std::int64_t page_bytes = 256 << 10;
/// Nobody tells of output: whoever follows looks again, more and more seldom while nothing comes.
constexpr std::chrono::milliseconds pause_min = 50ms;
constexpr std::chrono::milliseconds pause_max = 800ms;

constexpr std::size_t log_lines_default = 200;
constexpr std::size_t log_lines_max = 1'000'000;

constexpr auto footer = R"(
Without PROCESS: the daemon's own log, its last lines, over the files that it is kept in (four of 8 MB
each). With --follow it goes on with what is logged from then on.

With one: what that background process wrote to its standard output and error, as far as it is kept
(the last megabyte, unless the config says otherwise; until half an hour after its exit). Where the
beginning is no longer kept, standard error says which bytes are missing. With --follow it goes on
until the process has exited, also over a restart of the daemon.

In a file or a pipe the bytes are as they were written; on a terminal they go through a pager, and
control characters other than line breaks, tabs and colours are shown instead of obeyed.

Examples:
  knell logs
  knell logs -f
  knell logs -n 1000 | grep ERROR
  knell logs p-0123456789abc
  knell logs -f p-0123456789abc
  knell logs --tail 2000 p-0123456789abc

Exit status: 0 all was printed, 1 failed, 2 wrong usage.)";

class Logs final : public Command {
  public:
    void declare(CLI::App& app) override {
        auto* process =
            app.add_option("PROCESS", process_, "The process's id, as `knell ps` shows it");
        app.add_flag("-f,--follow", follow_, "Go on with what is written from now on");
        app.add_option("-n,--lines", lines_, "Of the daemon's log the last N lines (default: 200)")
            ->option_text("N")
            ->check(CLI::Range(std::size_t{1}, log_lines_max))
            ->excludes(process);
        auto* after = app.add_option("--after", after_, "Only what follows this byte")
                          ->option_text("N")
                          ->check(CLI::Range(std::int64_t{0}, INT64_MAX))
                          ->needs(process);
        app.add_option("--tail", tail_, "Begin with the last N bytes")
            ->option_text("N")
            ->check(CLI::Range(std::int64_t{4}, std::int64_t{limits::process_output_page_max}))
            ->excludes(after)
            ->needs(process);
        app.add_flag("--json", json_, "Print each page as JSON, one a line")->needs(process);
        app.footer(footer);
    }

    int run(const Context& context) override {
        is_terminal_ = context.output.interactive;
        if (process_.empty()) return print_daemon_log(context);
        auto connected = client::connect(context.paths);
        if (!connected) return complain("logs", connected.error());
        if (tail_ == 0) next_ = after_;
        const int status = follow_ ? print_and_follow(std::move(*connected), context.paths)
                                   : print_all(*connected);
        if (is_terminal_ && !json_) print(harmless_.finish());
        return status;
    }

  private:
    int print_daemon_log(const Context& context) {
        // Before its end is read: nothing in between is left out.
        LogFollower follower(context.paths.log_file);
        const auto lines = last_log_lines(context.paths.log_file, lines_);
        if (!lines && !follow_) return complain("logs", lines.error());
        std::optional<Pager> pager;
        if (!follow_) pager.emplace(context.output);
        if (lines) print_bytes(*lines);
        if (follow_) follow_log(follower);
        if (is_terminal_) print(harmless_.finish());
        return exit_done;
    }

    void follow_log(LogFollower& follower) {
        const StopSignals stop;
        auto pause = pause_min;
        while (can_write()) {
            const auto piece = follower.read_more();
            print_bytes(piece);
            (void)std::fflush(stdout);
            pause = piece.empty() ? std::min(pause * 2, pause_max) : 0ms;
            if (stop.wait_for(/*fd=*/-1, pause) == Woken::told_to_stop) return;
            pause = std::max(pause, pause_min);
        }
    }

    void print_bytes(std::string_view bytes) {
        print(is_terminal_ ? harmless_.add(bytes) : std::string(bytes));
    }

    int print_all(client::Connection& connection) {
        std::optional<Pager> pager;
        if (!json_) pager.emplace(describe_terminal(STDOUT_FILENO));
        for (;;) {
            const auto page = print_page(connection);
            if (!page) return complain("logs", page.error());
            if (!page->is_more || !can_write()) return exit_done;
        }
    }

    int print_and_follow(client::Connection connection, const Paths& paths) {
        const StopSignals stop;
        auto pause = pause_min;
        for (;;) {
            const auto page = print_page(connection);
            if (!page && !may_come_back(page.error())) return complain("logs", page.error());
            if (!page) {
                if (is_terminal(STDERR_FILENO)) note("the daemon went away; waiting for it");
                // A daemon that is there and refuses (`limit`) is not asked again at once.
                if (stop.wait_for(/*fd=*/-1, pause) == Woken::told_to_stop) return exit_done;
                pause = std::min(pause * 2, pause_max);
                auto next = wait_until_reachable(paths, stop);
                if (!next) return exit_done;
                connection = std::move(*next);
                continue;
            }
            if (!can_write() || (page->is_end && !page->is_more)) return exit_done;
            pause = page->is_empty ? std::min(pause * 2, pause_max) : pause_min;
            const auto wait_max = page->is_more ? 0ms : pause;
            if (stop.wait_for(/*fd=*/-1, wait_max) == Woken::told_to_stop) return exit_done;
        }
    }

    struct Page {
        bool is_more = false;  // can be read right now
        bool is_end = false;   // the process has exited
        bool is_empty = false;
    };

    Result<Page> print_page(client::Connection& connection) {
        JsonObject params{{"process_id", process_},
                          {"limit", next_ ? page_bytes : tail_},
                          {"encoding", json_ ? "text" : "base64"}};
        if (next_) params["after"] = *next_;
        const auto result = connection.call_object("process.output", params);
        if (!result) return std::unexpected(result.error());
        const auto from = int_at(*result, "after");
        const auto next = int_at(*result, "next", from);
        const Page page{.is_more = wire::bool_at(*result, "more") && next > next_.value_or(-1),
                        .is_end = !client::is_running(*result),
                        .is_empty = next == next_};
        if (auto printed = print_result(*result); !printed) {
            return std::unexpected(std::move(printed.error()));
        }
        next_ = next;
        (void)std::fflush(stdout);  // a failure is found at the end
        return page;
    }

    Result<void> print_result(const JsonObject& result) {
        const auto output = wire::text_at(result, "output");
        const auto* gap = wire::object_at(result, "gap");
        if (json_) {
            if (!output.empty() || gap != nullptr) print_line(wire::to_text(result));
            return {};
        }
        if (gap != nullptr) {
            (void)std::fflush(stdout);
            note(fmt::format("knell logs: bytes {} to {} are no longer kept", int_at(*gap, "from"),
                             int_at(*gap, "to")));
        }
        const auto bytes = base64_decode(output);
        if (!bytes) return fail(ErrorCode::internal, "the daemon's answer holds no base64");
        print_bytes(*bytes);
        return {};
    }

    /// finish_output tells why not.
    static bool can_write() { return std::ferror(stdout) == 0; }

    std::string process_;
    std::size_t lines_ = log_lines_default;
    bool follow_ = false;
    std::int64_t after_ = 0;
    std::int64_t tail_ = 0;
    bool json_ = false;
    bool is_terminal_ = false;
    std::optional<std::int64_t> next_;  // nothing: begin with the tail
    HarmlessText harmless_;
};

}  // namespace

std::unique_ptr<Command> make_logs() {
    return std::make_unique<Logs>();
}

}  // namespace knell::cli
