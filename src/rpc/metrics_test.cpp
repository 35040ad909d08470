#include "rpc/metrics.hpp"

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rpc/metric_text.hpp"
#include "testing/doc_page.hpp"
#include "testing/in_process_backend.hpp"

namespace knell::rpc {
namespace {

bool is_name(std::string_view text) {
    if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return false;
    return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
           std::string_view::npos;
}

/// Reads the text format as strictly as its description has it; the first thing that is wrong ends
/// it.
class Scrape {
  public:
    explicit Scrape(const std::string& text) {
        if (!text.ends_with('\n')) wrong("the last line has no end");
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line) && error_.empty();) read(line);
    }

    const std::string& error() const { return error_; }
    std::size_t families() const { return types_.size(); }
    /// `name{label="value"}` as it was written, or nothing.
    std::optional<double> value(const std::string& sample) const {
        const auto found = values_.find(sample);
        return found == values_.end() ? std::nullopt : std::optional(found->second);
    }
    bool has_family(const std::string& name) const { return types_.contains(name); }

  private:
    void wrong(std::string_view what) {
        if (error_.empty()) error_ = what;
    }

    void read(std::string_view line) {
        if (line.starts_with("# HELP ")) return read_help(line.substr(7));
        if (line.starts_with("# TYPE ")) return read_type(line.substr(7));
        read_sample(line);
    }

    void read_help(std::string_view rest) {
        family_ = rest.substr(0, rest.find(' '));
        if (!is_name(family_)) wrong("HELP of no name");
        if (rest.size() <= family_.size() + 1) wrong("no help for " + family_);
        if (types_.contains(family_)) wrong(family_ + " is there twice");
    }

    void read_type(std::string_view rest) {
        const auto type = rest.substr(rest.find(' ') + 1);
        if (rest.substr(0, rest.find(' ')) != family_) wrong("TYPE does not follow its HELP");
        if (type != "gauge" && type != "counter") wrong("no type of " + family_);
        if ((type == "counter") != family_.ends_with("_total")) {
            wrong(family_ + ": counters, and only they, end in _total");
        }
        types_[family_] = type;
    }

    void read_sample(std::string_view line) {
        const auto name = line.substr(0, line.find_first_of("{ "));
        if (name != family_ || !types_.contains(family_)) wrong("a sample of no family");
        auto rest = line.substr(name.size());
        if (rest.starts_with('{')) rest = read_labels(rest.substr(1));
        if (!rest.starts_with(' ')) return wrong(fmt::format("no value: {}", line));
        rest.remove_prefix(1);
        double value = 0;
        const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc{} || stop != rest.data() + rest.size()) {
            return wrong(fmt::format("no number: {}", line));
        }
        if (value < 0) wrong(fmt::format("below nought: {}", line));
        const auto sample = std::string(line.substr(0, line.size() - rest.size() - 1));
        if (!values_.emplace(sample, value).second) wrong(sample + " is there twice");
    }

    /// What follows the labels.
    std::string_view read_labels(std::string_view rest) {
        std::set<std::string> names;
        for (;;) {
            const std::string name(rest.substr(0, rest.find('=')));
            if (!is_name(name) || !names.insert(name).second) wrong("label " + name);
            rest.remove_prefix(std::min(name.size() + 1, rest.size()));
            if (!rest.starts_with('"')) wrong("a label without quotes");
            std::size_t end = 1;
            for (; end < rest.size() && rest[end] != '"'; ++end) {
                if (rest[end] != '\\') continue;
                if (++end == rest.size() || !std::string_view("\\\"n").contains(rest[end])) {
                    wrong("a stray backslash");
                }
            }
            rest.remove_prefix(std::min(end + 1, rest.size()));
            const bool goes_on = rest.starts_with(',');
            if (!goes_on && !rest.starts_with('}')) wrong("labels without their end");
            if (rest.empty() || !error_.empty()) return rest;
            rest.remove_prefix(1);
            if (!goes_on) return rest;
        }
    }

    std::string family_;
    std::map<std::string, std::string> types_;
    std::map<std::string, double> values_;
    std::string error_;
};

NodeStatus busy_node() {
    NodeStatus node{.version = "0.1.0", .commit = "a\"b\\c\nd"};
    node.started_at = from_millis(1'500);
    node.uptime = std::chrono::seconds{42};
    node.store = {.kind = "sqlite", .schema = 7, .bytes = 4096};
    node.by_status.at(static_cast<std::size_t>(Status::running)) = 3;
    node.held_resets = 8;
    node.ended_day[{Reason::completed, Proof::declared}] = 5;
    node.leases = {.live = 2, .heartbeats = 100, .reaps = 1, .reap_lateness_max_ms = 1250};
    node.tools = {.reports = 40, .errors = 7, .denials = 3};
    node.tools.add(Stuck{.kind = NudgeKind::cycle, .level = NudgeLevel::warning});
    node.processes.running = {2, 1, 0, 0};
    node.processes.max = 4096;
    node.processes.starts = 9;
    node.processes.exits.at(static_cast<std::size_t>(ExitKind::lost)) = 4;
    node.last_seq = 500;
    node.first_seq = 401;
    node.journal = {.commits = 9, .commands = 20, .failures = 1, .queued = 4};
    node.connections = 6;
    node.attachments = 2;
    node.process = {
        .threads = 8, .resident_bytes = 1 << 20, .descriptors = 30, .descriptors_max = 1024};
    return node;
}

HooksReport two_hooks() {
    HooksReport hooks;
    HookReport ops{.settings = HookSettings{.is_webhook = true}, .state = "failing", .waiting = 2};
    ops.subscription.name = "ops";
    ops.subscription.failures = 7;
    HookReport gone{.state = "absent", .dead = 1};
    gone.subscription.name = "old";
    gone.subscription.delivered = 11;
    hooks.hooks = {ops, gone};
    return hooks;
}

TEST(Metrics, AreWellFormedAndTrue) {
    const Scrape scrape(metrics(busy_node(), two_hooks()));

    ASSERT_EQ(scrape.error(), "");
    EXPECT_GT(scrape.families(), 30U);
    const std::map<std::string, double> expected{
        {R"(knell_build_info{version="0.1.0",commit="a\"b\\c\nd"})", 1},
        {"knell_start_time_seconds", 1.5},
        {"knell_uptime_seconds", 42},
        {"knell_process_threads", 8},
        {"knell_process_resident_memory_bytes", 1 << 20},
        {"knell_process_open_fds", 30},
        {"knell_process_max_fds", 1024},
        {"knell_connections", 6},
        {"knell_attachments", 2},
        {R"(knell_sessions{status="running"})", 3},
        {R"(knell_sessions{status="idle"})", 0},
        {"knell_resets_held", 8},
        {R"(knell_sessions_ended_last_day{reason="completed",proof="declared"})", 5},
        {R"(knell_background_processes{activity="working"})", 2},
        {R"(knell_background_processes{activity="listening"})", 1},
        {R"(knell_background_processes{activity="waiting"})", 0},
        {"knell_background_processes_max", 4096},
        {"knell_background_process_starts_total", 9},
        {R"(knell_background_process_exits_total{kind="lost"})", 4},
        {R"(knell_background_process_exits_total{kind="exited"})", 0},
        {"knell_leases", 2},
        {"knell_heartbeats_total", 100},
        {"knell_tool_reports_total{outcome=\"ok\"}", 33},
        {"knell_tool_reports_total{outcome=\"error\"}", 7},
        {"knell_tool_nudges_total{kind=\"cycle\",level=\"warning\"}", 1},
        {"knell_tool_nudges_total{kind=\"errors\",level=\"advice\"}", 0},
        {"knell_tool_denials_total", 3},
        {"knell_reaps_total", 1},
        {"knell_reap_lateness_max_seconds", 1.25},
        {"knell_events_total", 500},
        {"knell_events_kept", 100},
        {"knell_commit_failures_total", 1},
        {R"(knell_queue_length{queue="writes"})", 4},
        {R"(knell_delivery_failures_total{name="ops",kind="webhook"})", 7},
        {R"(knell_deliveries_total{name="old",kind="absent"})", 11},
        {R"(knell_letters{name="ops",kind="webhook",state="waiting"})", 2},
        {R"(knell_letters{name="old",kind="absent",state="dead"})", 1},
        {R"(knell_subscriber_state{name="ops",kind="webhook",state="failing"})", 1},
    };
    for (const auto& [sample, value] : expected) EXPECT_EQ(scrape.value(sample), value) << sample;
    EXPECT_FALSE(scrape.value(R"(knell_sessions{status="ended"})"));
    EXPECT_FALSE(scrape.value(R"(knell_background_processes{activity="exited"})"));
}

TEST(Metrics, WithoutSamplesThereIsNoFamily) {
    const Scrape scrape(metrics(NodeStatus{}, HooksReport{}));
    EXPECT_EQ(scrape.error(), "");
    EXPECT_FALSE(scrape.has_family("knell_letters"));
    EXPECT_EQ(scrape.value("knell_events_kept"), 0);
}

TEST(Metrics, AreAnsweredByTheDaemon) {
    testing::InProcessBackend backend;
    backend.hooks_report = two_hooks();

    const auto answer =
        wire::parse_response(backend.answer(R"({"jsonrpc":"2.0","id":1,"method":"node.metrics"})"));

    ASSERT_TRUE(answer);
    const auto& result = answer->as_object();
    EXPECT_EQ(wire::text_at(result, "content_type"), metrics_content_type);
    const Scrape scrape{std::string(wire::text_at(result, "text"))};
    EXPECT_EQ(scrape.error(), "");
    EXPECT_EQ(scrape.value(R"(knell_delivery_failures_total{name="ops",kind="webhook"})"), 7);
}

/// One row a family, with the labels of its samples.
std::string table_of(const std::string& text) {
    std::string table = "| name | is | labels | about |\n|---|---|---|---|\n";
    std::istringstream lines(text);
    std::string help;
    std::string type;
    for (std::string line; std::getline(lines, line);) {
        const auto rest = line.substr(line.find(' ', 7) + 1);
        if (line.starts_with("# HELP ")) {
            help = rest;
        } else if (line.starts_with("# TYPE ")) {
            type = rest;
        } else if (!type.empty()) {
            std::string labels;
            for (auto quote = line.find("=\""); quote != std::string::npos;
                 quote = line.find("=\"", quote + 1)) {
                const auto begin = line.find_last_of("{,", quote) + 1;
                labels += fmt::format("{}`{}`", labels.empty() ? "" : ", ",
                                      line.substr(begin, quote - begin));
            }
            table +=
                fmt::format("| `{}` | {} | {} | {} |\n", line.substr(0, line.find_first_of("{ ")),
                            std::exchange(type, {}), labels, help);
        }
    }
    return table;
}

TEST(Metrics, AreListedInTheirPage) {
    auto node = busy_node();
    node.ended_week = node.ended_day;
    const auto tables = testing::check_doc_page(
        KNELL_DOCS_DIR "/metrics.md", [&](std::string_view marker) -> std::optional<std::string> {
            if (marker != "<!-- metrics -->") return std::nullopt;
            return table_of(metrics(node, two_hooks()));
        });
    EXPECT_EQ(tables.size(), 1U);
}

TEST(Metrics, AWrongScrapeIsFound) {
    const std::string head = "# HELP a_total b\n# TYPE a_total counter\n";
    EXPECT_EQ(Scrape(head + "a_total 1\n").error(), "");
    EXPECT_NE(Scrape(head + "a_total 1").error(), "");
    EXPECT_NE(Scrape(head + "a_total\n").error(), "");
    EXPECT_NE(Scrape(head + "a_total 1\na_total 2\n").error(), "");
    EXPECT_NE(Scrape(head + "b 1\n").error(), "");
    EXPECT_NE(Scrape(head + "a_total{x=\"1} 1\n").error(), "");
    EXPECT_NE(Scrape(head + "a_total{x=\"\\t\"} 1\n").error(), "");
    EXPECT_NE(Scrape("# HELP a b\n# TYPE a counter\na 1\n").error(), "");
    EXPECT_NE(Scrape(head + head + "a_total 1\n").error(), "");
}

}  // namespace
}  // namespace knell::rpc
