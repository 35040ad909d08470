// The tour of the README, and the first hook of docs/hooks.md before it, typed as they are printed:
// what is printed below each command is what comes.
//
// Words that are others at each run (ids, pids, times) count as the same, and where a later command
// names one of them, that of this run is meant. UPDATE_TOUR=1 in the environment writes what is
// said now into the README; read the difference before it is kept.

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/waiting.hpp"
#include "platform/environment.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;

struct Step {
    std::string command;  // with the lines it goes on in
    std::vector<std::string> output;
};

/// A page: what stands before, between and behind its ```console blocks, and the steps of each.
struct Page {
    std::vector<std::string> prose{std::string{}};
    std::vector<std::vector<Step>> blocks;
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

void add_line(std::vector<Step>& block, const std::string& line) {
    if (!block.empty() && block.back().output.empty() && block.back().command.ends_with('\\')) {
        block.back().command += "\n" + line;
    } else if (line.starts_with("$ ")) {
        block.push_back({line.substr(2), {}});
    } else {
        block.back().output.push_back(line);
    }
}

Page read_page(const std::string& path) {
    Page page;
    bool is_inside = false;
    for (const auto& line : lines_of(read_file(path))) {
        if (is_inside && line != "```") {
            add_line(page.blocks.back(), line);
            continue;
        }
        if (is_inside) page.prose.emplace_back();
        page.prose.back() += line + "\n";
        is_inside = line == "```console";
        if (is_inside) page.blocks.emplace_back();
    }
    return page;
}

std::string text_of(const Page& page) {
    auto text = page.prose.front();
    for (std::size_t i = 0; i < page.blocks.size(); ++i) {
        for (const auto& [command, output] : page.blocks[i]) {
            text += "$ " + command + "\n";
            for (const auto& line : output) text += line + "\n";
        }
        text += page.prose.at(i + 1);
    }
    return text;
}

/// The commands of the first ```sh block.
std::string first_script(const std::string& path) {
    const auto text = read_file(path);
    const std::string begin = "```sh\n";
    const auto at = text.find(begin) + begin.size();
    return text.substr(at, text.find("```", at) - at);
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

/// Ids, pids, ages, times and numbers.
bool varies(const std::string& word) {
    static const std::regex others(
        R"re([("']*([0-9a-f]{8}(-[0-9a-f-]*)?|p-[0-9a-z]{13}|[0-9.:TZ-]+|[0-9]+(ms|s|m|h|d)?|now|just|ago))re"
        R"re([)"',;:]*)re");
    return std::regex_match(word, others);
}

/// What a later command may name.
enum class Kind : std::uint8_t { session, process, pid, other };
Kind kind_of(const std::string& word) {
    static const std::regex session("[0-9a-f]{8}(-[0-9a-f-]*)?");  // short, or whole
    static const std::regex process("p-[0-9a-z]{13}");
    static const std::regex pid("[0-9]{4,}");
    if (std::regex_match(word, session)) return Kind::session;
    if (std::regex_match(word, process)) return Kind::process;
    return std::regex_match(word, pid) ? Kind::pid : Kind::other;
}

/// A JSON answer is one word; what varies in it goes too.
std::string what_stays(const std::string& line) {
    static const std::regex id("[0-9a-f]{8}-[0-9a-f-]{27}");
    static const std::regex host(R"re(\bon \S+ since\b)re");
    std::string kept;
    for (const auto& word : words_of(std::regex_replace(line, host, "on <host> since"))) {
        if (!varies(word)) kept += std::regex_replace(word, id, "<id>") + " ";
    }
    return kept;
}

std::vector<std::string> what_stays(const std::vector<std::string>& lines) {
    std::vector<std::string> kept;
    // What a process was last seen doing is another thing each moment.
    const auto evidence = lines.empty() ? std::string::npos : lines.front().find("EVIDENCE");
    const bool is_ps = !lines.empty() && lines.front().starts_with("PROCESS ");
    for (auto line : lines) {
        if (is_ps) line.resize(std::min(line.size(), evidence));
        // What a shell says of its jobs it says to a person, and when it likes.
        const bool is_shells = line.starts_with('[') || line.starts_with("bash: line ");
        if (!is_shells) kept.push_back(what_stays(line));
    }
    return kept;
}

/// One shell that somebody types into, in a home of its own.
class Shell {
  public:
    Shell() {
        fs::create_directories(home_.file("bin"));
        fs::create_symlink(knell_binary(), home_.file("bin/knell"));
        fs::create_directories(home_.file(".config/knell"));
        fs::create_directory(home_.file("run"));
        fs::permissions(home_.file("run"), fs::perms::owner_all);
        // The usual port may be another daemon's.
        write_file(home_.file(".config/knell/config.yaml"), "http:\n  listen: 127.0.0.1:0\n");
        Spawn spawn{.argv = {"bash", "--norc"},
                    .environment = {{"HOME", home_.path()},
                                    {"PATH", home_.file("bin") + ":" + system_path},
                                    {"XDG_RUNTIME_DIR", home_.file("run")},
                                    {"LC_ALL", "C.UTF-8"},
                                    {"TZ", "UTC"}},
                    .cwd = home_.path()};
        spawn.in = in_.reading.get();
        spawn.out = out_.writing.get();
        spawn.err = out_.writing.get();
        shell_.emplace(spawn);
    }
    ~Shell() {
        Client client(socket());
        const auto running = client.must("process.list");
        for (const auto& process : array(running, "processes")) {
            type("knell stop --yes " + knell::functional::text(process, "process_id"));
        }
        type("kill $(jobs -p); knell down");
    }
    std::string socket() const { return home_.file("run/knell/knell.sock"); }

    std::vector<std::string> type(const std::string& command) {
        const auto mark = fmt::format("--typed-{}--", ++typed_);
        const auto line = fmt::format("{}\necho {}\n", command, mark);
        EXPECT_EQ(::write(in_.writing.get(), line.data(), line.size()),
                  static_cast<ssize_t>(line.size()));
        while (!said_.contains(mark + "\n")) {
            wait_for(out_.reading.get(), POLLIN, command.c_str());
            if (!read_available(out_.reading.get(), said_)) break;
        }
        const auto at = said_.find(mark);
        auto lines = lines_of(said_.substr(0, at));
        said_.erase(0, at + mark.size() + 1);
        return lines;
    }

  private:
    TempHome home_;
    Pipe in_;
    Pipe out_;
    std::optional<Process> shell_;
    std::string said_;
    int typed_ = 0;
};

class Tour : public testing::Test {
  protected:
    /// What a command of the page is in this run.
    std::string meant_by(std::string command) const {
        for (const auto& [printed, real] : meant) {
            for (auto at = command.find(printed); at != std::string::npos;
                 at = command.find(printed, at + real.size())) {
                command.replace(at, printed.size(), real);
            }
        }
        return command;
    }
    /// What only looks may look before what it is to see has come about.
    std::vector<std::string> type(const Step& step) {
        const auto command = meant_by(step.command);
        const bool only_looks =
            std::regex_search(command, std::regex("^(knell (ls|why|events|hooks|ps)|cat)\\b"));
        auto said = shell.type(command);
        for (int tries = 0; only_looks && tries < tries_max; ++tries) {
            if (what_stays(said) == what_stays(step.output)) break;
            said = shell.type(command);
        }
        return said;
    }
    /// What goes on in the background is there when the next command looks.
    void wait_for_session_of(const std::string& command) {
        std::smatch id;
        if (!std::regex_search(command, id, std::regex(R"(--id (\S+) .*&$)"))) return;
        Client client(shell.socket());
        const auto params = fmt::format(R"({{"session_id":"{}"}})", id.str(1));
        for (int tries = 0; tries < tries_max; ++tries) {
            if (client.call("session.show", params).ok()) return;
        }
    }
    void learn(const Step& step, const std::vector<std::string>& said) {
        for (std::size_t i = 0; i < std::min(said.size(), step.output.size()); ++i) {
            const auto printed = words_of(step.output[i]);
            const auto real = words_of(said[i]);
            for (std::size_t k = 0; k < std::min(printed.size(), real.size()); ++k) {
                const auto kind = kind_of(printed[k]);
                if (kind != Kind::other && kind == kind_of(real[k])) {
                    meant.try_emplace(printed[k], real[k]);
                }
            }
        }
    }

    static constexpr int tries_max = 500;
    Shell shell;
    std::map<std::string, std::string> meant;
};

TEST_F(Tour, IsAsPrinted) {
    if (run_command({.argv = {"curl", "--version"}}).status != 0) {
        GTEST_SKIP() << "curl is not installed (Debian: curl)";
    }
    const auto path = std::string(KNELL_SOURCE_DIR) + "/README.md";
    const bool updates = !environment_variable("UPDATE_TOUR").empty();
    const auto hook =
        shell.type(first_script(std::string(KNELL_SOURCE_DIR) + "/docs/hooks.md") + "cd");
    ASSERT_FALSE(hook.empty());
    EXPECT_EQ(what_stays(hook.back()), "diary took the test event in ms ");
    const auto http = text(Client(shell.socket()).must("node.status"), "http");
    meant["7717"] = http.substr(http.rfind(':') + 1);
    auto page = read_page(path);
    for (auto& block : page.blocks) {
        for (auto& step : block) {
            const auto said = type(step);
            learn(step, said);
            wait_for_session_of(step.command);
            if (updates) {
                step.output = said;
                continue;
            }
            EXPECT_EQ(what_stays(said), what_stays(step.output))
                << "$ " << meant_by(step.command) << "\n"
                << fmt::format("{}", fmt::join(said, "\n"));
        }
    }
    if (updates) write_file(path, text_of(page));
}

}  // namespace
}  // namespace knell::functional
