#include <chrono>
#include <cstdio>
#include <optional>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "base/duration_text.hpp"
#include "cli/control_verbs.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_facts.hpp"
#include "cli/session_name.hpp"
#include "cli/stop_signals.hpp"
#include "cli/wait_status.hpp"
#include "client/connect.hpp"
#include "client/end_watch.hpp"
#include "client/hear.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Returns when all of the sessions have ended, each as it was when this began: one that is opened
again meanwhile has ended. Says how each went. A daemon that is replaced meanwhile is waited for.

Examples:
  knell wait build-42
  knell wait build-41 build-42 --timeout 2h || echo "one of them failed"

Exit status: that of the first session whose command did not exit with 0: its own, 128 and the
signal where one ended it, 1 where nobody saw how it went; 0 when there is none such; 2 wrong
usage. 124 when the time is up first.)";

constexpr int exit_timed_out = 124;
/// An event says when to look; this is only in case one gets lost with a daemon.
constexpr std::chrono::milliseconds look_again{5000};

struct Awaited {
    std::string id;
    std::int64_t generation = 0;
    std::optional<JsonObject> ended{};
};

std::string why_not_a_time(const std::string& text) {
    return parse_duration(text, std::chrono::seconds{1})
               ? ""
               : fmt::format("\"{}\" is no duration such as 90s or 2h", text);
}

class Wait final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("ID", ids_, "The sessions")->required();
        app.add_option("--timeout", timeout_, "Wait for so long at most, such as 90s or 2h")
            ->option_text("D")
            ->check(CLI::Validator(why_not_a_time, ""));
        app.add_flag("--json", json_, "Print the sessions as JSON when all have ended");
        app.footer(footer);
    }

    int run(const Context& context) override {
        // From here on: a daemon that stops during the first calls is waited for, too.
        const StopSignals stop;
        auto connection = client::connect(context.paths);
        if (!connection) return complain("wait", connection.error());
        for (const auto& name : ids_) {
            const auto session = find_session(*connection, name);
            if (!session) return complain("wait", session.error());
            awaited_.push_back(
                {std::string(wire::text_at(*session, "id")), wire::int_at(*session, "generation")});
        }
        const auto budget = timeout_.empty()
                                ? std::chrono::seconds{std::chrono::years{10}}
                                : parse_duration(timeout_, std::chrono::seconds{1}).value();
        const client::Deadline deadline{budget};
        while (true) {
            auto waited = wait_for_all(*connection, stop, deadline);
            if (waited) return finish(*waited);
            if (!may_come_back(waited.error())) return complain("wait", waited.error());
            auto again = wait_until_reachable(context.paths, stop);
            if (!again) return exit_failed;
            *connection = std::move(*again);
        }
    }

  private:
    enum class Over : std::uint8_t { all_ended, time_is_up, told_to_stop };

    Result<Over> wait_for_all(client::Connection& connection, const StopSignals& stop,
                              const client::Deadline& deadline) {
        auto watch = client::EndWatch::begin(connection);
        if (!watch) return std::unexpected(watch.error());
        for (;;) {
            auto left = look(connection);
            if (!left) return std::unexpected(left.error());
            if (*left == 0) return Over::all_ended;
            if (deadline.passed()) return Over::time_is_up;
            const auto step = std::chrono::milliseconds{
                deadline.poll_millis(std::chrono::milliseconds{look_again})};
            if (stop.wait_for(connection.fd(), step) == Woken::told_to_stop) {
                return Over::told_to_stop;
            }
            auto heard = client::hear(connection, deadline, std::chrono::milliseconds{0});
            if (!heard) return std::unexpected(heard.error());
        }
    }

    /// How many have not ended yet.
    Result<std::size_t> look(client::Connection& connection) {
        std::size_t left = 0;
        for (auto& one : awaited_) {
            if (one.ended) continue;
            auto session = connection.call_object("session.show", {{"session_id", one.id}});
            if (!session) return std::unexpected(session.error());
            if (!client::is_over(*session, one.generation)) {
                ++left;
                continue;
            }
            if (!json_) {
                print_line(words_of(one, *session));
                // Whoever reads this may have to wait for the next one for hours.
                (void)std::fflush(stdout);  // a failure is found at the end
            }
            one.ended = std::move(*session);
        }
        return left;
    }

    static std::string words_of(const Awaited& one, const JsonObject& session) {
        if (wire::text_at(session, "status") == "ended") {
            return fmt::format("{} {}", one.id, end_text(session));
        }
        return fmt::format("{} was opened again since, as generation {}", one.id,
                           wire::int_at(session, "generation"));
    }

    int finish(Over over) const {
        if (over == Over::told_to_stop) return exit_failed;
        if (over == Over::time_is_up) {
            for (const auto& one : awaited_) {
                if (!one.ended) {
                    complain("wait",
                             fmt::format("session {} is still open after {}", one.id, timeout_));
                }
            }
            return exit_timed_out;
        }
        int status = exit_done;
        JsonArray sessions;
        for (const auto& one : awaited_) {
            if (status == exit_done && one.ended && one.ended->contains("reason")) {
                status = wait_status(*one.ended);
            }
            sessions.emplace_back(*one.ended);
        }
        if (json_) print_json(JsonObject{{"sessions", std::move(sessions)}});
        return status;
    }

    std::vector<std::string> ids_;
    std::string timeout_;
    bool json_ = false;
    std::vector<Awaited> awaited_;
};

}  // namespace

std::unique_ptr<Command> make_wait() {
    return std::make_unique<Wait>();
}

}  // namespace knell::cli
