// Transcripts of the command line and the protocol, errors included: tests/golden/*.golden.
//
//   # a remark            @ no daemon       (none is started for this transcript)
//   $ a command           its standard output, "! " and its standard error, "[exit N]" unless 0
//   > a line to the socket                  "< " and the answer
//
// UPDATE_GOLDEN=1 in the environment writes what is said now; read the difference before it is
// kept.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/normalise.hpp"
#include "platform/environment.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> transcripts() {
    std::vector<std::string> names;
    for (const auto& name : names_in(KNELL_GOLDEN_DIR)) {
        if (name.ends_with(".golden")) names.push_back(name.substr(0, name.size() - 7));
    }
    return names;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Plays a transcript and writes down what happens, in the same form.
class Player {
  public:
    explicit Player(bool with_daemon) : normalise_(home_.path()) {
        if (with_daemon) daemon_.emplace(home_);
    }

    std::string play(const std::vector<std::string>& script) {
        for (const auto& line : script) {
            if (line.starts_with("# ") || line.starts_with("@ ")) {
                if (!written_.empty() && !written_.ends_with("\n\n")) written_ += '\n';
                written_ += line + "\n";
            } else if (line.starts_with("$ ")) {
                begin(line);
                run(line.substr(2));
            } else if (line.starts_with("> ")) {
                begin(line);
                ask(line.substr(2));
            }
        }
        return written_;
    }

  private:
    void begin(const std::string& line) {
        const bool after_remark = last_line().starts_with("# ");
        if (!written_.empty() && !after_remark) written_ += '\n';
        written_ += line + "\n";
    }
    std::string last_line() const {
        if (written_.size() < 2) return {};
        const auto start = written_.rfind('\n', written_.size() - 2);
        return written_.substr(start == std::string::npos ? 0 : start + 1);
    }

    void run(const std::string& command) {
        auto spawn = home_.command({});
        spawn.argv = {"sh", "-c", command};
        spawn.cwd = home_.path();
        spawn.environment["PATH"] =
            fs::path(knell_binary()).parent_path().string() + ":" + system_path;
        const auto outcome = run_command(spawn);
        for (const auto& line : lines_of(outcome.out)) add("", line);
        for (const auto& line : lines_of(outcome.err)) add("! ", line);
        if (outcome.status != 0) written_ += fmt::format("[exit {}]\n", outcome.status);
    }

    void ask(const std::string& line) {
        if (!client_) client_.emplace(home_.socket());
        client_->send(line + "\n");
        add("< ", client_->read_line().value_or("(closed)"));
    }

    void add(std::string_view mark, const std::string& line) {
        auto said = std::string(mark) + normalise_(line);
        while (said.ends_with(' ')) said.pop_back();
        for (const auto* taken : {"# ", "@ ", "$ ", "> "}) {
            EXPECT_FALSE(said.starts_with(taken)) << "cannot be told from a command: " << said;
        }
        written_ += said + "\n";
    }

    TempHome home_;
    Normaliser normalise_;
    std::optional<Daemon> daemon_;
    std::optional<Client> client_;
    std::string written_;
};

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, SaysWhatItSaidBefore) {
    const auto path = fmt::format("{}/{}.golden", KNELL_GOLDEN_DIR, GetParam());
    const auto expected = read_file(path);
    const auto script = lines_of(expected);
    Player player(std::ranges::find(script, "@ no daemon") == script.end());

    const auto written = player.play(script);

    if (!environment_variable("UPDATE_GOLDEN").empty()) write_file(path, written);
    EXPECT_EQ(written, read_file(path)) << "UPDATE_GOLDEN=1 takes what is said now";
}

INSTANTIATE_TEST_SUITE_P(Transcripts, Golden, testing::ValuesIn(transcripts()),
                         [](const auto& entry) { return entry.param; });

}  // namespace
}  // namespace knell::functional
