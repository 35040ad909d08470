#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/search_rows.hpp"
#include "client/connect.hpp"
#include "core/read_limits.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Finds messages that hold all the words, whatever their case and accents. "In quotes" words follow each
other (mind your shell, which takes quotes away: '"no space left"'), and a word that ends in * is the
beginning of one. What is joined by other characters, such as a path, is looked for as it stands.
Filters come before the limit.

The last on record come first; with --best those that hold the words most often for their length.
Each is told with its session and its number in it, which `knell show ID --messages N` shows in full.

Examples:
  knell search permission denied
  knell search '"no space left"' --since 7d
  knell search deploy* --source gateway --role assistant --best
  knell search timeout --json | jq -r '.results[].session_id'

Exit status: 0 done, 1 failed, 2 wrong usage.)";

class Search final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("TEXT", text_, "Words to look for")->required();
        app.add_option("--source", source_, "Only sessions of this source")->option_text("S");
        app.add_option("--key", key_, "Only sessions with this routing key")->option_text("K");
        app.add_option("--role", role_, "Only what this role said: user, assistant, tool ...")
            ->option_text("R");
        app.add_option("--session", session_, "Only this session")->option_text("ID");
        app.add_option("--since", since_, "Only what was said since: a time, or so long ago (7d)")
            ->option_text("T");
        app.add_flag("--best", best_, "The best first, not the last");
        app.add_option("--limit", limit_, "At most so many messages (default: 20)")
            ->option_text("N")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{limits::search_page_max}));
        app.add_option("--cursor", cursor_, "Go on where an earlier page ended")->option_text("C");
        app.add_flag("--json", json_, "Print the result as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        auto connection = client::connect(context.paths);
        if (!connection) return complain("search", connection.error());
        const auto result = find(*connection);
        if (!result) return complain("search", result.error());
        if (json_) {
            print_json(*result);
            return exit_done;
        }
        const auto* results = wire::array_at(*result, "results");
        if (results == nullptr || results->empty()) {
            note("nothing found. Fewer words, or the beginning of one (deploy*), find more");
            return exit_done;
        }
        print(search_rows(*results, context.output, read_clocks().wall));
        if (result->contains("partial")) {
            note(
                fmt::format("only the newest {} messages with these words were compared; more "
                            "words or --since find older ones",
                            limits::search_candidates_max));
        }
        if (const auto next = wire::text_at(*result, "next"); !next.empty()) {
            note(fmt::format("there are more: repeat the command with --cursor {}", next));
        }
        return exit_done;
    }

  private:
    /// A page also ends where enough was looked at: asks on until there are as many as were asked
    /// for, or no more.
    Result<JsonObject> find(client::Connection& connection) const {
        auto wanted = params();
        auto result = connection.call_object("session.search", wanted);
        while (result) {
            auto* results = result->if_contains("results");
            const auto next = std::string(wire::text_at(*result, "next"));
            if (results == nullptr || !results->is_array() || next.empty()) break;
            const auto left = limit_ - static_cast<std::int64_t>(results->get_array().size());
            if (left <= 0) break;
            wanted["cursor"] = next;
            wanted["limit"] = left;
            auto more = connection.call_object("session.search", wanted);
            if (!more) return more;
            if (const auto* found = wire::array_at(*more, "results")) {
                auto& all = results->get_array();
                all.insert(all.end(), found->begin(), found->end());
            }
            result->erase("next");
            if (const auto* further = more->if_contains("next")) (*result)["next"] = *further;
        }
        return result;
    }

    JsonObject params() const {
        JsonObject params{{"query", fmt::format("{}", fmt::join(text_, " "))}, {"limit", limit_}};
        if (!source_.empty()) params["source"] = source_;
        if (!key_.empty()) params["key"] = key_;
        if (!role_.empty()) params["role"] = role_;
        if (!session_.empty()) params["session_id"] = session_;
        if (!since_.empty()) params["since"] = since_;
        if (best_) params["order"] = "best";
        if (!cursor_.empty()) params["cursor"] = cursor_;
        return params;
    }

    std::vector<std::string> text_;
    std::string source_;
    std::string key_;
    std::string role_;
    std::string session_;
    std::string since_;
    bool best_ = false;
    std::int64_t limit_ = limits::search_page_default;
    std::string cursor_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_search() {
    return std::make_unique<Search>();
}

}  // namespace knell::cli
