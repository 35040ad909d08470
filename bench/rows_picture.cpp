#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <poll.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"
#include "must.hpp"
#include "rpc_line.hpp"
#include "web_client.hpp"
#include "wire/json.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t live_sessions = 10'000;
constexpr double answer_max_ms = 5;
constexpr std::size_t asked = 200;
/// After this a hosted session that nobody looks at is not counted as live.
constexpr int grace_ms = 31'000;

/// Leases that do not run out meanwhile.
Load long_lived_creates(std::size_t calls) {
    return {.method = "session.create",
            .calls = calls,
            .window = 64,
            .params = [](std::size_t number, std::string& out) {
                fmt::format_to(std::back_inserter(out),
                               R"({{"source":"gateway","platform":"telegram",)"
                               R"("key":"agent:main:telegram:dm:{}","user_id":"{}",)"
                               R"("title":"Refactor the billing importers",)"
                               R"("cwd":"/home/ada/projects/billing",)"
                               R"("owner":{{"lease_ttl_s":86400}}}})",
                               number, number);
            }};
}

Load hosted_creates(std::size_t calls) {
    return {.method = "session.create",
            .calls = calls,
            .window = 64,
            .params = [](std::size_t, std::string& out) {
                out += R"({"source":"gateway","title":"Refactor the billing importers"})";
            }};
}

std::string next_in(const std::string& body) {
    return std::string(wire::text_at(must(wire::parse_json(body)).as_object(), "next"));
}

/// One question in several runs, beside the smallest read there is on the same connection.
class Question {
  public:
    Question(Lab& lab, std::string name, std::string what, std::string baseline)
        : lab_(lab),
          name_(std::move(name)),
          what_(std::move(what)),
          baseline_(std::move(baseline)) {}

    /// `ask` is timed, `between` is not.
    void measure(
        const DaemonUnderTest& daemon, const std::function<void()>& ask,
        const std::function<void()>& smallest, const std::function<void()>& between = [] {}) {
        for (std::size_t run = 0; run < lab_.runs(); ++run) {
            std::vector<double> ours;
            std::vector<double> theirs;
            double cpu = 0;
            for (std::size_t i = 0; i < lab_.scaled(asked); ++i) {
                theirs.push_back(seconds_of(smallest) * 1e3);
                between();
                const auto before = daemon.cpu_seconds();
                ours.push_back(seconds_of(ask) * 1e3);
                cpu += daemon.cpu_seconds() - before;
            }
            p50_.push_back(percentiles_of(ours).p50);
            p99_.push_back(percentiles_of(ours).p99);
            smallest_.push_back(percentiles_of(theirs).p50);
            cpu_.push_back(cpu * 1e3 / static_cast<double>(lab_.scaled(asked)));
        }
        report();
    }

  private:
    void report() {
        const auto figure = spread_of(p50_);
        lab_.add({.name = name_,
                  .what = what_,
                  .unit = "ms",
                  .figure = figure,
                  .baseline = baseline_,
                  .baseline_figure = spread_of(smallest_),
                  .ratio = spread_of(ratios(p50_, smallest_)),
                  .target = "p50 < 5 ms",
                  .met = figure.median < answer_max_ms,
                  .also = {{"p99_ms", spread_of(p99_).median},
                           {"daemon_cpu_ms", spread_of(cpu_).median}}});
    }

    Lab& lab_;
    const std::string name_;
    const std::string what_;
    const std::string baseline_;
    std::vector<double> p50_;
    std::vector<double> p99_;
    std::vector<double> smallest_;
    std::vector<double> cpu_;
};

void measure_lists(Lab& lab, const DaemonUnderTest& daemon, const std::string& id,
                   const std::string& among, const std::string& suffix) {
    Caller caller(daemon.socket());
    const auto show = [&] { caller.call("session.show", {{"session_id", id}}); };
    for (const std::size_t limit : {50U, 1'000U}) {
        Question question(
            lab, fmt::format("active_list{}.{}", suffix, limit),
            fmt::format("session.active_list, the newest {}, {}", grouped(limit), among),
            "session.show on the same connection");
        question.measure(
            daemon, [&] { caller.call("session.active_list", {{"limit", limit}}); }, show);
    }
}

void measure_space(Lab& lab, const DaemonUnderTest& daemon, const std::vector<std::string>& ids,
                   const std::string& among) {
    constexpr auto path = "/v1/space/activity";
    HttpReader reader(daemon.web());
    Caller caller(daemon.socket());
    const auto smallest = [&] { reader.get("/v1/sessions/" + ids.front()); };
    const std::string baseline = "GET /v1/sessions/{id} on the same connection";
    std::size_t changed = 0;
    const auto change = [&] {
        const auto message = JsonObject{{"role", "user"}, {"content", "hello"}};
        caller.call("session.append", {{"session_id", ids[++changed % ids.size()]},
                                       {"generation", 1},
                                       {"messages", JsonArray{message}}});
    };
    Question whole(lab, "space.whole", fmt::format("GET {}, all of it, {}", path, among), baseline);
    whole.measure(daemon, [&] { reader.get(path); }, smallest, change);
    auto answer = reader.get(path);
    auto next = next_in(answer.body);
    Question since(lab, "space.since",
                   fmt::format("GET {}?since=, after a message, {}", path, among), baseline);
    since.measure(
        daemon, [&] { answer = reader.get(fmt::format("{}?since={}", path, next)); }, smallest,
        [&] {
            next = next_in(answer.body);
            change();
        });
    const auto etag = reader.get(path).etag;
    Question same(lab, "space.unchanged",
                  fmt::format("GET {} with If-None-Match, nothing changed, {}", path, among),
                  baseline);
    same.measure(
        daemon,
        [&] {
            if (reader.get(path, etag).status != 304) throw Failed("it is not unchanged");
        },
        smallest);
}

}  // namespace

void measure_picture(Lab& lab) {
    const auto count = lab.scaled(live_sessions);
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path(), DaemonUnderTest::Http::on);
    std::vector<std::string> ids;
    {
        LoadClient client(daemon.socket(), client_count);
        ids = create_sessions(client, long_lived_creates(count));
    }
    const auto among = fmt::format("{} live sessions", grouped(count));
    measure_lists(lab, daemon, ids.front(), "of " + among, "");
    measure_space(lab, daemon, ids, among);
    {
        LoadClient client(daemon.web(), client_count);
        create_sessions(client, hosted_creates(count));
    }
    lab.say("waiting until hosted sessions that nobody looks at are not listed any more");
    poll(nullptr, 0, grace_ms);
    measure_lists(lab, daemon, ids.front(),
                  fmt::format("of {} behind as many newer ones that are not", among), ".behind");
}

}  // namespace knell::bench
