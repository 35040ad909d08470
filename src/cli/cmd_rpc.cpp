#include <array>
#include <cstdio>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/default_owner.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/table.hpp"
#include "client/connect.hpp"
#include "client/spool.hpp"
#include "core/limits.hpp"
#include "wire/error_table.hpp"

namespace knell::cli {

namespace {

using wire::text_at;

constexpr auto footer = R"(
Prints the result on standard output, or the error object on standard error. The owner of a session
made this way is, unless the call says otherwise, the nearest process above this one that leads a
process group or a session and is not a subshell: the terminal's shell, the script, the cron job.

Examples:
  knell rpc node.status
  knell rpc session.create '{"source":"script","title":"nightly"}'
  echo '{"session_id":"build-42"}' | knell rpc session.show -
  knell rpc --list

Exit status: 0 done, 1 the call failed, 2 wrong usage or JSON that cannot be read.)";

std::string read_standard_input() {
    std::string text;
    std::array<char, 65'536> chunk{};
    // One byte past what a call may hold is enough for it to be refused.
    while (text.size() <= limits::line_bytes_max) {
        const auto count = std::fread(chunk.data(), 1, chunk.size(), stdin);
        if (count == 0) break;
        text.append(chunk.data(), count);
    }
    return text;
}

/// For a method that takes an owner: this process is gone in a moment and cannot be it.  False when
/// there is nobody to name.
bool add_owner(std::string_view method, JsonObject& params) {
    const bool takes_owner =
        method == "session.create" || method == "session.resume" || method == "session.route";
    // Whoever owned it before must not close what is another's by now.
    const bool speaks_for_one = method == "session.close" && !params.contains("generation");
    if ((!takes_owner && !speaks_for_one) || params.contains("owner")) return true;
    const auto pid = default_owner();
    if (pid) params["owner"] = client::owner_for_call(*pid);
    return pid.has_value() || speaks_for_one;
}

int print_error(const JsonObject& error) {
    note(wire::to_pretty_text(error));
    return exit_failed;
}

int usage_error(std::string_view message) {
    complain("rpc", message);
    note("Try: knell rpc --help");
    return exit_usage;
}

std::string params_text(const JsonObject& method) {
    const auto* params = wire::array_at(method, "params");
    if (params == nullptr) return {};
    std::string text;
    for (const auto& param : *params) {
        const auto* object = param.if_object();
        if (object == nullptr) continue;
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", text_at(*object, "name"),
                            wire::bool_at(*object, "required") ? "" : "?");
    }
    return text;
}

class Rpc final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("METHOD", method_, "What to call, such as session.list");
        app.add_option("JSON", json_, "Its parameters, an object; - reads standard input");
        app.add_flag("--list", list_, "List the methods there are");
        app.footer(footer);
    }

    int run(const Context& context) override {
        if (list_ != method_.empty()) {
            return usage_error(list_ ? "--list takes no METHOD" : "METHOD is missing");
        }
        JsonObject params;
        if (!json_.empty()) {
            auto parsed = wire::parse_json(json_ == "-" ? read_standard_input() : json_);
            if (!parsed) return usage_error(parsed.error().message);
            if (!parsed->is_object()) return usage_error("the parameters must be a JSON object");
            params = std::move(parsed->get_object());
        }
        if (!add_owner(method_, params)) {
            return usage_error(
                "nobody waits for this call who could own the session; name an owner: {\"pid\": N} "
                "or {\"lease_ttl_s\": 45}");
        }

        auto connection = client::connect(context.paths);
        if (!connection) return print_error(wire::to_json(connection.error()));
        const auto answer =
            connection->call_raw(list_ ? "rpc.describe" : method_, params,
                                 client::Deadline{client::call_timeout_of(method_)});
        if (!answer) return print_error(wire::to_json(answer.error()));
        if (const auto* error = wire::object_at(*answer, "error")) return print_error(*error);
        const auto* result = answer->if_contains("result");
        return print_result(result == nullptr ? Json{} : *result, context);
    }

  private:
    int print_result(const Json& result, const Context& context) const {
        const auto* methods =
            list_ && result.is_object() ? wire::array_at(result.get_object(), "methods") : nullptr;
        if (methods == nullptr) {
            print_json(result);
            return exit_done;
        }
        Table table({{.title = "METHOD"}, {.title = "DOES"}, {.title = "PARAMS", .shrink_to = 20}});
        for (const auto& method : *methods) {
            if (const auto* object = method.if_object()) {
                table.add({{std::string(text_at(*object, "name"))},
                           {std::string(text_at(*object, "summary"))},
                           {params_text(*object)}});
            }
        }
        print(table.render(context.output));
        return exit_done;
    }

    std::string method_;
    std::string json_;
    bool list_ = false;
};

}  // namespace

std::unique_ptr<Command> make_rpc() {
    return std::make_unique<Rpc>();
}

}  // namespace knell::cli
