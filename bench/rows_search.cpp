// Messages in the search index: what it costs those who write, and what searches take.

#include <algorithm>

#include <fmt/format.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"
#include "must.hpp"
#include "platform/clock.hpp"
#include "platform/directories.hpp"
#include "store/archive.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "watch/process_table.hpp"
#include "writer/write_step.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t sessions = 64;
constexpr std::size_t messages_full = 1'000'000;
constexpr double ratio_min = 0.9;

class NoLeftovers final : public LeftoverFinder {
  public:
    void protect(const ProcessIdentity&) override {}
    std::vector<FoundLeftovers> find(const FindLeftovers&) override { return {}; }
};
class NoSpool final : public SpoolAtStart {
  public:
    void take_in(const IsOpen&, const Say&) override {}
};

AwakeClock::Readings readings() {
    const auto clocks = read_clocks();
    return {clocks.wall, read_awake_clock(), clocks.steady};
}

/// Text of words that are used as unevenly as those of people.
class Talk {
  public:
    std::string next(std::size_t bytes) {
        std::string text;
        while (text.size() < bytes) {
            const auto rarity = random() % 1000 * (random() % 1000) / 50;
            text += fmt::format("word{} ", rarity);
        }
        text += fmt::format("number{}", ++number_);
        return text;
    }

  private:
    std::uint64_t random() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return state_ >> 33U;
    }
    std::uint64_t state_ = 1;
    std::size_t number_ = 0;
};

/// The writer's steps on a store of its own, as the daemon takes them.
class WriterUnderTest {
  public:
    explicit WriterUnderTest(const std::string& home)
        : store_(open(home)), step_(*store_, readings) {
        must(step_.recover(processes_, leftovers_, spool_, "the bench").has_value(), "a start");
        std::vector<Input> creates;
        for (std::size_t i = 0; i < sessions; ++i) {
            Create create{};
            create.draft.id = SessionId(fmt::format("s{}", i));
            create.draft.source = fmt::format("source-{}", i % 4);
            create.draft.owner.kind = OwnerKind::lease;
            create.draft.owner.lease_ttl = limits::lease_ttl_max;
            creates.emplace_back(std::move(create));
        }
        say(std::move(creates));
    }

    void say(std::vector<Input> inputs) {
        std::vector<WriteStep::Submission> words;
        for (auto& input : inputs) words.push_back({std::move(input), false, readings()});
        step_.take(std::move(words), readings());
        while (step_.has_submissions()) {
            for (auto& reply : step_.step().replies) must(std::move(reply));
        }
    }
    /// One message in each session, in one transaction, as from as many connections.
    void append_to_all(Talk& talk, std::size_t bytes) {
        std::vector<Input> appends;
        for (std::size_t i = 0; i < sessions; ++i) {
            Append append{SessionId(fmt::format("s{}", i)), 1, {}};
            append.messages.push_back({"user", talk.next(bytes), {}, 1});
            appends.emplace_back(std::move(append));
        }
        say(std::move(appends));
    }
    WriteStep& step() { return step_; }
    Store& store() { return *store_; }

  private:
    static std::unique_ptr<Store> open(const std::string& home) {
        const auto paths = paths_in(home);
        must(make_private_directories(paths.state_dir));
        return must(sqlite::open_store({.path = paths.store_file, .vfs = {}}));
    }

    std::unique_ptr<Store> store_;
    ProcTable processes_;
    NoLeftovers leftovers_;
    NoSpool spool_;
    WriteStep step_;
};

/// Messages of 1 KiB a second.
double append_rate(Lab& lab, std::size_t count, bool with_index) {
    const auto home = lab.new_home();
    WriterUnderTest writer(home->path());
    Talk talk;
    const auto start = seconds_now();
    for (std::size_t done = 0; done < count; done += sessions) {
        writer.append_to_all(talk, 1024);
        if (with_index) must(writer.step().index_messages().has_value(), "the index");
    }
    return static_cast<double>(count) / (seconds_now() - start);
}

void measure_append(Lab& lab) {
    const auto count = lab.scaled(100'000);
    std::vector<double> with;
    std::vector<double> without;
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        without.push_back(append_rate(lab, count, /*with_index=*/false));
        with.push_back(append_rate(lab, count, /*with_index=*/true));
    }
    std::vector<double> ratios;
    for (std::size_t run = 0; run < with.size(); ++run) ratios.push_back(with[run] / without[run]);
    const auto ratio = spread_of(ratios);
    lab.add({.name = "search.append",
             .what = "durable appends of 1 KiB, 64 a transaction, while the index follows",
             .unit = "/s",
             .figure = spread_of(with),
             .baseline = "the same without an index, in turns",
             .baseline_figure = spread_of(without),
             .ratio = ratio,
             .target = ">= 0.9x",
             .met = ratio.median >= ratio_min});
}

struct Question {
    std::string name;
    std::string what;
    std::string params;
};

void measure_question(Lab& lab, LoadClient& client, const Question& question) {
    lab.say(question.name);
    std::vector<double> p50;
    std::vector<double> p99;
    Load load{.method = "session.search", .calls = 5, .params = [&](std::size_t, std::string& out) {
                  out += question.params;
              }};
    const auto each = client.run(load).seconds / 5;
    load.calls = std::clamp<std::size_t>(static_cast<std::size_t>(1 / each), 5, 1'000);
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto found = percentiles_of(client.run(load).micros);
        p50.push_back(found.p50 / 1000);
        p99.push_back(found.p99 / 1000);
    }
    lab.add({.name = question.name,
             .what = question.what + ": p50 of session.search " + question.params,
             .unit = "ms",
             .figure = spread_of(p50),
             .also = {{"p99_ms", spread_of(p99).median}}});
}

}  // namespace

void measure_search(Lab& lab) {
    measure_append(lab);
    const auto count = lab.scaled(messages_full);
    const auto home = lab.new_home();
    {
        lab.say(fmt::format("a store with {} messages", count));
        WriterUnderTest writer(home->path());
        Talk talk;
        for (std::size_t done = 0; done < count; done += sessions) writer.append_to_all(talk, 200);
        lab.say("its index");
        const auto start = seconds_now();
        while (must(archive_of(writer.store()).index_messages(1000, 256U << 10U))) {
        }
        const std::vector<double> rate{static_cast<double>(count) / (seconds_now() - start)};
        lab.add({.name = "search.index",
                 .what = "messages of 200 bytes put into the index when nothing else is written",
                 .unit = "/s",
                 .figure = spread_of(rate)});
    }
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    LoadClient client(daemon.socket(), 1);
    for (const auto& question : {
             Question{"search.one", "one message of all", R"({"query":"number777"})"},
             Question{"search.common", "the newest 20 of a word that most have",
                      R"({"query":"word0"})"},
             Question{"search.two", "the newest 20 with two words", R"({"query":"word0 word7"})"},
             Question{"search.source", "the same of one source in four",
                      R"({"query":"word0 word7","source":"source-3"})"},
             Question{"search.prefix", "the newest 20 with the beginning of a word",
                      R"({"query":"number77*"})"},
             Question{"search.best", "the best 20 of a word that many have",
                      R"({"query":"word7","order":"best"})"},
         }) {
        measure_question(lab, client, question);
    }
}

}  // namespace knell::bench
