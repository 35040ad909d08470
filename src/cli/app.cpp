#include "cli/app.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/claude_surroundings.hpp"
#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/completion_values.hpp"
#include "cli/control_verbs.hpp"
#include "cli/exit_status.hpp"
#include "cli/help_text.hpp"
#include "cli/man_page.hpp"
#include "cli/other_version.hpp"
#include "cli/output.hpp"
#include "cli/usage_words.hpp"
#include "cli/verb_facts.hpp"
#include "platform/version.hpp"

namespace knell::cli {

namespace {

struct Verb {
    const char* name;
    const char* usage;  // what follows the name
    const char* group;
    const char* summary;
    std::unique_ptr<Command> (*make)();

    constexpr VerbFacts facts() const { return {name, usage, group, summary}; }
};

constexpr auto daemon_group = "The daemon";
constexpr auto session_group = "Sessions";
constexpr auto process_group = "Background processes";
constexpr auto program_group = "For programs";

/// Every verb there is.
constexpr std::array verbs{
    Verb{"run", "[OPTIONS] -- CMD [ARGS...]", session_group,
         "Run a command as a session that ends when the command does", make_run},
    Verb{"adopt", "[OPTIONS] PID", session_group, "Open a session for a process that runs already",
         make_adopt},
    Verb{"ls", "[OPTIONS]", session_group, "List sessions, the newest first", make_ls},
    Verb{"show", "[OPTIONS] ID", session_group, "Show one session with all that is known of it",
         make_show},
    Verb{"why", "[OPTIONS] ID", session_group,
         "Explain why a session is as it is, and what would end it", make_why},
    Verb{"search", "[OPTIONS] TEXT...", session_group, "Find messages by their words", make_search},
    Verb{"wait", "[OPTIONS] ID...", session_group,
         "Wait until sessions have ended; exits as their command did", make_wait},
    Verb{"stop", "[OPTIONS] ID... | --session ID", session_group,
         "Stop the processes of sessions, or background processes", make_stop},
    Verb{"end", "[OPTIONS] ID...", session_group,
         "End the record of sessions; their processes go on", make_end},
    Verb{"reset", "[OPTIONS] KEY|ID", session_group,
         "End a conversation; the next message begins a new one", make_reset},
    Verb{"suspend", "[OPTIONS] KEY|ID", session_group,
         "Let the next message begin a new conversation", make_suspend},
    Verb{"branch", "[OPTIONS] KEY|ID", session_group, "Go on in a child, with what was said so far",
         make_branch},
    Verb{"compress", "[OPTIONS] KEY|ID", session_group,
         "Replace a session by a child that goes on from a summary", make_compress},
    Verb{"title", "[OPTIONS] ID [TITLE]", session_group, "Give a session a title, or print it",
         make_title},
    Verb{"pin", "[OPTIONS] ID...", session_group, "Keep sessions, whatever is cleaned up",
         make_pin},
    Verb{"unpin", "[OPTIONS] ID...", session_group, "Remove the pin of sessions", make_unpin},
    Verb{"events", "[OPTIONS]", session_group, "Show what happened, the newest last", make_events},
    Verb{"hooks", "[OPTIONS] [ACTION] [NAME]", session_group, "Manage hooks and webhooks",
         make_hooks},
    Verb{"ps", "[OPTIONS]", process_group, "List background processes and what they are doing",
         make_ps},
    Verb{"logs", "[OPTIONS] PROCESS", process_group, "Print what a background process wrote",
         make_logs},
    Verb{"start", "[OPTIONS] -- CMD [ARGS...]", process_group,
         "Start a background process for a session", make_start},
    Verb{"vouch", "[OPTIONS] PROCESS UNTIL", process_group,
         "Say that a background process is wanted", make_vouch},
    Verb{"up", "[OPTIONS]", daemon_group, "Start the daemon", make_up},
    Verb{"down", "", daemon_group, "Stop the daemon and wait until it is gone", make_down},
    Verb{"restart", "[OPTIONS]", daemon_group, "Replace the daemon; sessions go on", make_restart},
    Verb{"status", "[OPTIONS]", daemon_group, "Show how the daemon is doing", make_status},
    Verb{"stats", "[OPTIONS]", daemon_group, "Show starts, ends and tokens of the last days",
         make_stats},
    Verb{"reload", "[OPTIONS]", daemon_group,
         "Read config.yaml and the hooks again and say what changed", make_reload},
    Verb{"reap", "[OPTIONS]", daemon_group, "Look at every owner now and end what is proven dead",
         make_reap},
    Verb{"doctor", "[OPTIONS]", daemon_group,
         "Say what this machine has of what knell needs, or what a store holds", make_doctor},
    Verb{"config", "[OPTIONS] ACTION [FILE]", daemon_group,
         "Check, show or create config.yaml; no daemon is needed", make_config},
    Verb{"token", "[OPTIONS] ACTION", daemon_group, "Show or rotate what HTTP clients log in with",
         make_token},
    Verb{"rpc", "[OPTIONS] METHOD [JSON]", program_group, "Make one JSON-RPC call", make_rpc},
    Verb{"hook", "[OPTIONS] AGENT", program_group,
         "Keep the record of an agent, as a hook that it runs", make_hook},
    Verb{"mcp", "", program_group, "Serve agents over the Model Context Protocol", make_mcp},
};

constexpr std::array verb_facts = [] {
    std::array<VerbFacts, verbs.size()> facts{};
    std::ranges::transform(verbs, facts.begin(), &Verb::facts);
    return facts;
}();

auto find_verb(std::string_view name) {
    return std::ranges::find_if(verbs, [&](const Verb& verb) { return verb.name == name; });
}

/// What may stand in the place of a verb.
bool is_flag(std::string_view argument) {
    return argument == "-h" || argument == "--help" || argument == "--version";
}

constexpr auto description =
    "knell keeps the truth about AI-agent sessions on this machine: every session that\n"
    "starts also ends, once, with a reason and the evidence for it.";

constexpr auto footer = R"(
Examples:
  knell run -- claude            run an agent as a session; a daemon is started if none runs
  knell ls                       what is alive, what ended and why
  knell show ID --messages 20    one session in full
  knell why ID                   is it alive, how is that known, what would end it
  knell reap --dry-run           what a sweep would end, and what it would leave alone
  knell events --type session:end
  knell ps                       background processes, what they are doing and how that is known
  knell rpc session.list '{"ended":false,"limit":5}'

Files:
  $KNELL_HOME holds everything when it is set. Otherwise config.yaml and hooks/ are in
  $XDG_CONFIG_HOME/knell, knell.db and knell.log in $XDG_STATE_HOME/knell, and knell.sock in
  $XDG_RUNTIME_DIR/knell. KNELL_SOCKET sends clients to another socket. NO_COLOR
  turns colours off.

Exit status: 0 done, 1 failed, 2 wrong usage. `knell run` exits as its command did.
`knell help VERB` tells more about a verb.)";

/// The usage line of a verb as it is written above, rather than as CLI11 derives it.
class HelpFormat final : public CLI::Formatter {
  public:
    explicit HelpFormat(std::string usage) : usage_(std::move(usage)) {
        column_width(26);
        label("Positionals", "Arguments");
    }
    std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
        return "\nUsage: knell " + usage_ + "\n";
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        // Without the validators and exclusions that CLI11 would spell out.
        const auto& text = option->get_option_text();
        return text.empty() ? text : " " + text;
    }
    std::string make_footer(const CLI::App* app) const override {
        // Our texts start on a line of their own; CLI11 has put an empty one before them by now.
        const auto& text = app->get_footer();
        return text.substr(text.find_first_not_of('\n')) + "\n";
    }

  private:
    const std::string usage_;
};

int complain_usage(std::string_view verb, std::string_view message) {
    const auto name = verb.empty() ? "knell" : fmt::format("knell {}", verb);
    note(fmt::format("{}: {}\nTry: {} --help", name, message, name));
    return exit_usage;
}

int print_manual(const CLI::App& app, std::string_view page) {
    if (page == "knell.1") {
        print(man_of_knell(app, verb_facts));
    } else if (page == "knell-hooks.7") {
        print(man_of_hooks());
    } else if (page == "knell.yaml.5") {
        print(man_of_config());
    } else {
        return complain_usage("", fmt::format("the manual pages are knell.1, knell-hooks.7 and "
                                              "knell.yaml.5, and not \"{}\"",
                                              page));
    }
    return exit_done;
}

/// One candidate a line, with what it is behind a tab.
int print_completion(const CLI::App& app, const std::vector<std::string>& words) {
    auto completion = complete(app, verb_facts, words);
    auto candidates = std::move(completion.candidates);
    const auto paths = Paths::from_environment();
    for (const auto wanted : completion.wanted) {
        auto found = look_up(wanted, paths);
        std::ranges::move(found, std::back_inserter(candidates));
    }
    const auto typed = words.empty() ? std::string_view() : std::string_view(words.back());
    for (const auto& one : that_begin_with(typed, std::move(candidates))) {
        print_line(fmt::format("{}\t{}", one.word, one.about));
    }
    return exit_done;
}

/// What the installation and the completions of shells call; not for people.
std::optional<int> run_hidden(const CLI::App& app, const std::vector<std::string>& arguments) {
    if (arguments.empty()) return std::nullopt;
    if (arguments.front() == "__man") {
        return print_manual(app, arguments.size() == 2 ? arguments[1] : std::string());
    }
    if (arguments.front() != "__complete") return std::nullopt;
    return print_completion(app, {arguments.begin() + 1, arguments.end()});
}

/// `knell help show` is `knell show --help`.
void turn_help_verb(std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.front() != "help") return;
    arguments.front() = "--help";
    if (arguments.size() > 1) std::swap(arguments[0], arguments[1]);
}

/// What stands in the place of a verb and is none.
std::string unknown_first(const CLI::App& app, const std::vector<std::string>& arguments) {
    const auto& word = arguments.front();
    if (word.starts_with('-')) {
        for (const auto& other : arguments) {
            if (find_verb(other) == verbs.end()) continue;
            if (app.get_subcommand(other)->get_option_no_throw(word) == nullptr) continue;
            return fmt::format("options stand behind the verb: knell {} {}", other, word);
        }
        return unknown_word("option", word, {"--help", "--version"});
    }
    std::vector<std::string> known{"help"};
    for (const auto& verb : verbs) known.emplace_back(verb.name);
    return unknown_word("verb", word, known);
}

/// Verbs that talk to no daemon, that start or stop one, or that stand in for another command: of a
/// daemon of another version these say nothing.
constexpr std::array<std::string_view, 7> own_daemon_verbs{"up",     "down", "restart", "run",
                                                           "config", "mcp",  "adopt"};

/// CLI11 takes its arguments last first.
std::vector<std::string> reversed(std::vector<std::string> arguments) {
    std::ranges::reverse(arguments);
    return arguments;
}

/// Takes what follows the first "--" of `knell run` or `knell start` off the arguments: it is not
/// for the parser, which would drop a second "--" and read options that are the command's.
std::vector<std::string> take_command(std::vector<std::string>& arguments) {
    if (arguments.empty()) return {};
    if (arguments.front() != "run" && arguments.front() != "start") return {};
    const auto mark = std::ranges::find(arguments, "--");
    if (mark == arguments.end()) return {};
    std::vector<std::string> command(mark + 1, arguments.end());
    arguments.erase(mark, arguments.end());
    return command;
}

int run_parsed(const CLI::App& app, const std::vector<std::unique_ptr<Command>>& commands,
               std::vector<std::string> command_line) {
    const auto* chosen = app.get_subcommands().front();
    const auto place = find_verb(chosen->get_name());
    auto rest = chosen->remaining();
    if (!rest.empty() && !command_line.empty()) rest.emplace_back("--");
    rest.insert(rest.end(), command_line.begin(), command_line.end());
    const Context context{.paths = Paths::from_environment(),
                          .output = describe_terminal(STDOUT_FILENO),
                          .command = std::move(rest)};
    return commands[static_cast<std::size_t>(place - verbs.begin())]->run(context);
}

}  // namespace

int run_app(int argc, const char* const* argv) {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    // An agent waits for this at every call of a tool: without a parser for thirty verbs.
    const bool is_hook = arguments.size() == 2 && arguments[0] == "hook";
    if (is_hook && arguments[1] == "claude-code") {
        return run_claude_hook(Paths::from_environment());
    }
    CLI::App app{description, "knell"};
    app.formatter(std::make_shared<HelpFormat>("VERB [OPTIONS]"));
    app.set_version_flag("--version", fmt::format("knell {} ({})", version, commit),
                         "Print the version and exit");
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.footer(footer);
    app.require_subcommand(1);
    std::vector<std::unique_ptr<Command>> commands;
    for (const auto& verb : verbs) {
        auto* sub = app.add_subcommand(verb.name, verb.summary)->group(verb.group);
        sub->formatter(std::make_shared<HelpFormat>(fmt::format("{} {}", verb.name, verb.usage)));
        commands.push_back(verb.make());
        commands.back()->declare(*sub);
    }

    if (const auto status = run_hidden(app, arguments)) return finish_output(*status);
    turn_help_verb(arguments);
    if (arguments.empty()) {
        note(fit_help(app.help(), describe_terminal(STDERR_FILENO).width));
        return exit_usage;
    }
    const bool known = find_verb(arguments.front()) != verbs.end();
    if (!known && !is_flag(arguments.front())) {
        return complain_usage("", unknown_first(app, arguments));
    }
    const std::string verb_name = known ? arguments.front() : "";
    if (known) {
        const std::vector<std::string> behind(arguments.begin() + 1, arguments.end());
        const auto wrong = unknown_option(*app.get_subcommand(verb_name), behind);
        if (wrong) return complain_usage(verb_name, *wrong);
    }
    auto command_line = take_command(arguments);
    try {
        app.parse(reversed(std::move(arguments)));
    } catch (const CLI::CallForHelp&) {
        const auto chosen = app.get_subcommands();
        print(fit_help((chosen.empty() ? &app : chosen.front())->help(),
                       describe_terminal(STDOUT_FILENO).width));
        return finish_output(exit_done);
    } catch (const CLI::CallForVersion& call) {
        print_line(call.what());
        return finish_output(exit_done);
    } catch (const CLI::Error& error) {
        return complain_usage(verb_name, usage_words(error));
    }
    const int status = run_parsed(app, commands, std::move(command_line));
    if (std::ranges::find(own_daemon_verbs, verb_name) == own_daemon_verbs.end()) {
        if (const auto other = other_version(Paths::from_environment())) note(*other);
    }
    return finish_output(status);
}

}  // namespace knell::cli
