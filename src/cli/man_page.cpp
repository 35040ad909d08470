#include "cli/man_page.hpp"

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "config/keys.hpp"
#include "core/event.hpp"
#include "foreign/hook_keys.hpp"
#include "platform/version.hpp"

namespace knell::cli {

namespace {

/// The day on which the pages were last looked at as a whole.
constexpr auto man_date = "2026-11-19";

std::string title(std::string_view name, int section) {
    return fmt::format(".TH {} {} {} \"knell {}\" \"knell\"\n", name, section, man_date, version);
}

std::string bold(std::string_view text) {
    return fmt::format("\\fB{}\\fR", roff_text(text));
}

/// A paragraph, or lines as they are where the first of them is indented.
std::string block(std::string_view text, bool is_first) {
    const bool is_shown = text.starts_with(' ');
    std::string roff = is_first ? "" : ".PP\n";
    if (is_shown) roff += ".nf\n";
    while (!text.empty()) {
        auto line = take_field(text, '\n');
        while (line.ends_with(' ')) line.remove_suffix(1);
        roff += roff_text(line) + "\n";
    }
    if (is_shown) roff += ".fi\n";
    return roff;
}

/// Where a line with another indent begins there is another block, and after an empty line.
std::string blocks(std::string_view text) {
    std::string roff;
    std::string gathered;
    bool is_first = true;
    const auto flush = [&] {
        if (gathered.empty()) return;
        gathered.pop_back();
        roff += block(gathered, is_first);
        is_first = false;
        gathered.clear();
    };
    while (!text.empty()) {
        const auto line = take_field(text, '\n');
        const bool is_shown = line.starts_with(' ');
        if (line.empty() || (!gathered.empty() && gathered.starts_with(' ') != is_shown)) flush();
        if (!line.empty()) gathered += std::string(line) + "\n";
    }
    flush();
    return roff;
}

std::string names_of(const CLI::Option& option) {
    if (option.get_positional()) return bold(option.get_name(/*positional=*/true));
    std::vector<std::string> names;
    for (const auto& name : option.get_snames()) names.push_back(bold("-" + name));
    for (const auto& name : option.get_lnames()) names.push_back(bold("--" + name));
    const auto& value = option.get_option_text();
    return fmt::format("{}{}", fmt::join(names, ", "),
                       value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff_text(value)));
}

std::string option_list(const CLI::App& verb) {
    std::string roff;
    for (const auto* option : verb.get_options()) {
        if (option->get_lnames() == std::vector<std::string>{"help"}) continue;
        roff +=
            fmt::format(".TP\n{}\n{}\n", names_of(*option), roff_text(option->get_description()));
    }
    return roff;
}

std::string verb_section(const CLI::App& app, const VerbFacts& facts) {
    const auto& verb = *app.get_subcommand(std::string(facts.name));
    auto roff =
        fmt::format(".SS {}\n{}{}{}\n.PP\n{}.\n", roff_text(fmt::format("knell {}", facts.name)),
                    bold(fmt::format("knell {}", facts.name)), facts.usage.empty() ? "" : " ",
                    roff_text(facts.usage), roff_text(facts.summary));
    roff += option_list(verb);
    const auto footer = verb.get_footer();
    const auto begin = footer.find_first_not_of('\n');
    if (begin == std::string::npos) return roff;
    return roff + ".PP\n" + blocks(std::string_view(footer).substr(begin));
}

std::string verb_list(std::span<const VerbFacts> verbs) {
    std::string roff;
    for (const auto& verb : verbs) {
        roff += fmt::format(".TP\n{}\n{}\n", bold(verb.name), roff_text(verb.summary));
    }
    return roff;
}

/// Backquotes of the docs say nothing here.
std::string without_backquotes(std::string_view text) {
    std::string plain;
    for (const char c : text) {
        if (c != '`') plain += c;
    }
    return plain;
}

std::string default_of(const Key& key) {
    if (key.presence == Presence::required) return "Required.";
    if (key.presence != Presence::optional) return "One of these is required.";
    if (!key.fallback.empty()) return fmt::format("Default: {}.", key.fallback);
    return fmt::format("Default: {}.", key.if_missing.empty() ? "none" : key.if_missing);
}

std::string key_list(const KeyTable& table) {
    std::string roff;
    for (const auto& key : table.keys) {
        const auto about = fmt::format("{}. Takes: {}. {}", without_backquotes(key.about),
                                       without_backquotes(describe_values(key)),
                                       without_backquotes(default_of(key)));
        roff += fmt::format(".TP\n{}\n{}\n", bold(key.path), roff_text(about));
    }
    return roff;
}

constexpr auto about_knell =
    "knell keeps the truth about sessions of agents on this machine: every session that starts "
    "also "
    "ends, once, with a reason and the evidence for it. A daemon keeps the record; most verbs talk "
    "to "
    "it, and those that need one start it.";

constexpr auto files_and_variables = R"(.SH FILES
.TP
\fI~/.config/knell/config.yaml\fR
The config, see
.BR knell.yaml (5).
.TP
\fI~/.config/knell/hooks/\fR
One directory a hook, see
.BR knell\-hooks (7).
.TP
\fI~/.local/state/knell/knell.db\fR
The record. Beside it are the log and, while no daemon can be reached, the spool.
.TP
\fI$XDG_RUNTIME_DIR/knell/knell.sock\fR
The socket of the daemon.
.SH ENVIRONMENT
.TP
\fBKNELL_HOME\fR
Holds everything when it is set, instead of the directories above.
.TP
\fBKNELL_SOCKET\fR
Sends clients to another socket.
.TP
\fBKNELL_SESSION_ID\fR, \fBKNELL_GENERATION\fR
Set for a command under
.BR "knell run" .
.TP
\fBNO_COLOR\fR
Turns colours off.
.SH EXIT STATUS
0 done, 1 failed, 2 wrong usage.
.B knell run
exits as its command did.
.SH SEE ALSO
.BR knell\-hooks (7),
.BR knell.yaml (5)
)";

constexpr auto hooks_intro = R"(.SH NAME
knell\-hooks \- programs that knell runs for events
.SH DESCRIPTION
A hook is a directory in
.I ~/.config/knell/hooks
with a HOOK.yaml and a program. knell runs the program once for each event that the hook asked for,
also for those that happened while no daemon ran.
.PP
.nf
  knell hooks new diary      makes one to start from
  knell hooks test diary     runs it with an event that never happened
  knell hooks                lists them all, with what failed and what waits
  knell hooks runs diary     shows the last ten runs and what they wrote
.fi
.PP
The program is run in its directory, without a shell. Nobody but you and root may be able to change
it, nor what leads to it; what others could change is not run, and
.B knell hooks
says what to type.
.SH INPUT
Standard input is the event, a JSON object on one line. As far as the event has them, these variables
are set:
.TP
\fBKNELL_EVENT\fR
Its type, such as session:end.
.TP
\fBKNELL_EVENT_ID\fR
The same at every attempt.
.TP
\fBKNELL_EVENT_SEQ\fR
Its number in the log.
.TP
\fBKNELL_SESSION_ID\fR, \fBKNELL_SESSION_KEY\fR
Of the session.
.TP
\fBKNELL_REASON\fR
Why it ended.
.PP
Of the daemon's own environment there are only PATH, HOME, USER, LOGNAME, SHELL, LANG, TZ, TMPDIR,
KNELL_HOME, HERMES_HOME and those that begin with LC_ or XDG_.
.SH RESULT
Exit status 0: delivered. Anything else, a signal, or its timeout: failed, and tried again after 5 s,
20 s, 80 s and so on, up to every 6 hours, for three days or as often as
.B retries
says. Then it is a dead letter, which
.B knell hooks retry
sends again. An event comes at least once, in order for its session, and always under the same id.
)";

constexpr auto config_intro = R"(.SH NAME
knell.yaml \- the config of knell
.SH SYNOPSIS
.I ~/.config/knell/config.yaml
.SH DESCRIPTION
A YAML file; it may be missing, and every key in it.
.B knell config init
writes one with every key explained and commented out,
.B knell config check
names the line and column of what is wrong, and
.B knell config show
says what holds. A running daemon reads it again as soon as it is written. While something is wrong
in it, what was read before holds.
.SH KEYS
A dot leads into a map, [] into each entry of a list.
)";

}  // namespace

std::string roff_text(std::string_view text) {
    std::string roff;
    bool at_line_start = true;
    for (const char c : text) {
        if (at_line_start && (c == '.' || c == '\'')) roff += "\\&";
        at_line_start = c == '\n';
        if (c == '\\') {
            roff += "\\e";
        } else if (c == '-') {
            roff += "\\-";
        } else if (c == '\'') {
            roff += "\\(aq";
        } else if (c == '`') {
            roff += "\\(ga";
        } else if (c == '^') {
            roff += "\\(ha";
        } else if (c == '~') {
            roff += "\\(ti";
        } else {
            roff += c;
        }
    }
    return roff;
}

std::string man_of_knell(const CLI::App& app, std::span<const VerbFacts> verbs) {
    auto roff = title("KNELL", 1);
    roff += ".SH NAME\nknell \\- keep the record of agent sessions\n";
    roff +=
        ".SH SYNOPSIS\n\\fBknell\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR]\n.br\n"
        "\\fBknell run\\fR [\\fIOPTIONS\\fR] \\-\\- \\fICOMMAND\\fR\n";
    roff += fmt::format(".SH DESCRIPTION\n{}\n", roff_text(about_knell));
    roff += verb_list(verbs);
    roff += ".SH VERBS\n";
    for (const auto& verb : verbs) roff += verb_section(app, verb);
    return roff + files_and_variables;
}

std::string man_of_hooks() {
    auto roff = title("KNELL-HOOKS", 7) + hooks_intro + ".SH HOOK.YAML\n";
    roff += key_list(foreign::hook_keys);
    roff += fmt::format(".SH EVENTS\n{}\n",
                        roff_text(fmt::format("{}.", fmt::join(event_type_names, ", "))));
    return roff + ".SH SEE ALSO\n.BR knell (1),\n.BR knell.yaml (5)\n";
}

std::string man_of_config() {
    return title("KNELL.YAML", 5) + config_intro + key_list(config_keys) +
           ".SH SEE ALSO\n.BR knell (1),\n.BR knell\\-hooks (7)\n";
}

}  // namespace knell::cli
