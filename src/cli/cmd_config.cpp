#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/config_report.hpp"
#include "cli/config_settings.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "cli/usage_words.hpp"
#include "client/connection.hpp"
#include "client/deadline.hpp"
#include "config/config.hpp"
#include "config/config_template.hpp"
#include "config/key_schema.hpp"
#include "config/keys.hpp"
#include "daemon/daemon.hpp"
#include "foreign/hook_keys.hpp"
#include "platform/new_file.hpp"
#include "platform/path_names.hpp"
#include "wire/config_json.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"(
Actions:
  check   read config.yaml and every hooks/*/HOOK.yaml as the daemon would, and name the file,
          line and column of whatever is wrong; with FILE that one instead, wherever it is, and
          with --hermes FILE as a config.yaml of Hermes, with the .env beside it
  show    every key with the value that holds, and whether that is the default, where it is set,
          or what option of `knell up` says so; of a secret only where it is
  init    write a config.yaml with every key explained and commented out; one that is there is
          left as it is
  schema  print a JSON Schema of config.yaml, or with --hook of HOOK.yaml, for editors

No daemon is needed, and nothing but init changes anything. The keys are in docs/config.md.

Examples:
  knell config init
  knell config init --print | less
  knell config check new.yaml && mv new.yaml ~/.config/knell/config.yaml
  knell config check --hermes ~/.hermes/config.yaml
  knell config check --json | jq -r '.problems[].message'
  knell config show --json | jq -r '.settings[] | select(.from == "file") | .key'
  knell config schema > knell.schema.json

Exit status: 0 done, or nothing is wrong but for warnings, 1 something is wrong or config.yaml is
there already, 2 wrong usage.)";

constexpr std::chrono::seconds answer_timeout{2};

class ConfigCommand final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("ACTION", action_, "What to do: check, show, init or schema")
            ->check(CLI::IsMember(std::vector<std::string>{"check", "show", "init", "schema"}))
            ->required();
        app.add_option("WHAT", target_,
                       "With check: the file to check (default: config.yaml); with show: only this "
                       "key, or those below it");
        app.add_flag("--hermes", hermes_, "With check: FILE is a config.yaml of Hermes");
        app.add_flag("--json", json_, "With check and show: print the result as JSON");
        app.add_flag("--print", print_, "With init: print the file instead of writing it");
        app.add_flag("--hook", hook_, "With schema: print that of HOOK.yaml");
        app.footer(footer);
    }

    int run(const Context& context) override {
        if (print_ && action_ != "init") return refuse_option("--print", "init");
        if (hook_ && action_ != "schema") return refuse_option("--hook", "schema");
        if (hermes_ && action_ != "check") return refuse_option("--hermes", "check");
        if (!target_.empty() && action_ != "check" && action_ != "show") {
            return refuse_option("WHAT", "check and show");
        }
        if (hermes_ && target_.empty()) {
            note(
                "knell config: --hermes wants a FILE, as in: knell config check --hermes "
                "~/.hermes/config.yaml");
            return exit_usage;
        }
        if (json_ && action_ == "init") return refuse_option("--json", "check and show");
        if (action_ == "show") return show(context);
        if (action_ == "init") return init(context.paths.config_file);
        if (action_ == "schema") {
            print_json(key_schema(hook_ ? foreign::hook_keys : config_keys));
            return exit_done;
        }
        return check(context.paths);
    }

  private:
    static int refuse_option(std::string_view option, std::string_view action) {
        note(fmt::format("knell config: {} is only for {}", option, action));
        return exit_usage;
    }

    int check(const Paths& paths) const {
        const auto report = check_config({.file = target_, .text = {}, .is_hermes = hermes_}, paths,
                                         Environment::callers);
        const auto checked = wire::to_json(report);
        if (json_) {
            print_json(checked);
        } else {
            print(PathNames::from_environment().in(config_report(checked)));
        }
        return report.is_ok() ? exit_done : exit_failed;
    }

    int show(const Context& context) const {
        const auto& file = context.paths.config_file;
        auto read = read_usable_config(file);
        auto settings = settings_of_key(std::move(read.config.settings));
        if (settings.empty()) {
            note(fmt::format("knell config: {}\nTry: knell config show", no_such_key()));
            return exit_usage;
        }
        if (const auto status = status_of_running(context)) apply_overrides(settings, *status);
        if (json_) {
            print_json(JsonObject{{"config_file", file}, {"settings", settings_json(settings)}});
        } else {
            const auto names = PathNames::from_environment();
            print(names.in(settings_table(settings, file, context.output)));
        }
        if (read.is_whole()) return exit_done;
        const auto names = PathNames::from_environment();
        for (const auto& problem : read.problems) {
            if (problem.level == ProblemLevel::error) note(names.in(to_text(problem)));
        }
        // One that runs already goes on with what it read before; only its log tells what that was.
        return complain("config",
                        "config.yaml has errors; shown is what a daemon that starts now goes by");
    }

    /// That of the key that was named and those below it, or all.
    std::vector<Setting> settings_of_key(std::vector<Setting> settings) const {
        std::erase_if(settings, [this](const Setting& setting) {
            const bool is_below =
                setting.path.starts_with(target_ + ".") || setting.path.starts_with(target_ + "[");
            return !target_.empty() && setting.path != target_ && !is_below;
        });
        return settings;
    }

    std::string no_such_key() const {
        std::vector<std::string> known;
        for (const auto& key : config_key_rows) known.emplace_back(key.path);
        return unknown_word("key", target_, known);
    }

    /// Nothing without a daemon, or with one that does not answer at once.
    static std::optional<JsonObject> status_of_running(const Context& context) {
        const client::Deadline deadline{answer_timeout};
        auto connection = client::Connection::open(context.paths.listen_socket, deadline);
        if (!connection) return std::nullopt;
        auto status = connection->call("node.status", {}, deadline);
        if (!status || !status->is_object()) return std::nullopt;
        return std::move(status->as_object());
    }

    int init(const std::string& file) const {
        if (print_) {
            print(config_template());
            return exit_done;
        }
        const auto written = write_new_file(file, config_template());
        if (!written && written.error().code == ErrorCode::blocked) {
            return complain("config", fmt::format("{} and was left as it is; `knell config init "
                                                  "--print` shows a new one",
                                                  written.error().message));
        }
        if (!written) return complain("config", written.error());
        print_line(fmt::format("wrote {}; edit it, then: knell config check", file));
        return exit_done;
    }

    std::string action_;
    std::string target_;
    bool hermes_ = false;
    bool json_ = false;
    bool print_ = false;
    bool hook_ = false;
};

}  // namespace

std::unique_ptr<Command> make_config() {
    return std::make_unique<ConfigCommand>();
}

}  // namespace knell::cli
