#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/session_name.hpp"
#include "client/connect.hpp"
#include "wire/error_table.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
A pinned session is kept: whatever cleans up the store leaves it alone. It may be open or ended,
and it ends like any other. `knell unpin` takes that back.

Examples:
  knell pin build-42
  knell unpin build-41 build-42

Exit status: 0 done, 1 some could not be found, or no daemon, 2 wrong usage.)";

/// `knell pin` and `knell unpin`.
class Pin final : public Command {
  public:
    explicit Pin(bool pinned) : pinned_(pinned) {}

    void declare(CLI::App& app) override {
        app.add_option("ID", ids_, "The sessions: ids, beginnings of them, @last or @N")
            ->required();
        app.add_flag("--json", json_, "Print the results as JSON");
        app.footer(footer);
    }

    int run(const Context& context) override {
        const auto* verb = pinned_ ? "pin" : "unpin";
        auto connection = client::connect(context.paths);
        if (!connection) return complain(verb, connection.error());
        JsonArray results;
        int status = exit_done;
        for (const auto& id : ids_) {
            auto result = set_pin(*connection, id);
            if (!result) {
                status = complain(verb, result.error());
                results.emplace_back(
                    JsonObject{{"session_id", id}, {"error", wire::to_json(result.error())}});
                continue;
            }
            if (!json_) {
                print_line(
                    fmt::format("{} {}", wire::text_at(*result, "session_id"), describe(*result)));
            }
            results.emplace_back(std::move(*result));
        }
        if (json_) print_json(JsonObject{{"results", std::move(results)}});
        return status;
    }

  private:
    Result<JsonObject> set_pin(client::Connection& connection, const std::string& name) const {
        const auto id = find_id(connection, name);
        if (!id) return std::unexpected(id.error());
        return connection.call_object(pinned_ ? "session.pin" : "session.unpin",
                                      {{"session_id", *id}});
    }

    std::string_view describe(const JsonObject& result) const {
        if (wire::bool_at(result, "changed")) return pinned_ ? "is pinned" : "is no longer pinned";
        return pinned_ ? "was pinned already" : "was not pinned";
    }

    const bool pinned_;
    std::vector<std::string> ids_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_pin() {
    return std::make_unique<Pin>(/*pinned=*/true);
}

std::unique_ptr<Command> make_unpin() {
    return std::make_unique<Pin>(/*pinned=*/false);
}

}  // namespace knell::cli
