#include "foreign/hermes/home.hpp"

#include <array>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "foreign/hermes/json_files.hpp"
#include "foreign/hermes/state_db.hpp"
#include "platform/clock.hpp"
#include "platform/small_file.hpp"

namespace knell::hermes {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t json_bytes_max = 64U << 20U;
constexpr std::size_t settings_bytes_max = 4U << 20U;
constexpr int reads_max = 5;  // of a database that is written to while it is read in place

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::int64_t size_of(const std::string& path) {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    return error ? 0 : static_cast<std::int64_t>(bytes);
}

}  // namespace

ProcessView view_processes() {
    const auto now = read_clocks();
    const auto up = std::chrono::duration_cast<std::chrono::milliseconds>(
        now.boot.time_since_epoch() + time_shift().boot);
    return {.look = read_proc_stat,
            .booted_at = now.wall - up,
            .ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK)),
            .host = host_name()};
}

Home::Home(std::string dir, ProcessView view) : dir_(std::move(dir)), view_(std::move(view)) {}
Home::Home(Home&&) noexcept = default;
Home::~Home() = default;

Result<void> Home::read_database() {
    const auto is_used = !holders_.holders.empty() || !possible_holders(holders_).empty();
    auto snapshot = Snapshot::take(database_path_, is_used);
    if (!snapshot) return std::unexpected(snapshot.error());
    auto state = StateDb::open(std::move(*snapshot), database_path_);
    if (!state) return std::unexpected(state.error());
    state_ = std::make_unique<StateDb>(std::move(*state));
    return {};
}

void Home::read_files(RowJudge::Facts& facts) {
    const auto read = [&](const std::string& name, auto parse, auto& into) {
        const auto path = (fs::path(dir_) / name).string();
        auto text = read_regular_file(path, json_bytes_max);
        if (!text) {
            if (text.error().code == ErrorCode::not_found) return;
            problems_.push_back(fmt::format("{} {}", path, text.error().message));
            return;
        }
        auto entries = parse(*text, path);
        if (!entries) {
            problems_.push_back(entries.error().message);
            return;
        }
        std::ranges::move(*entries, std::back_inserter(into));
    };
    read("sessions/sessions.json", parse_sessions_json, facts.routing);
    read("sessions.json", parse_sessions_json, facts.routing);
    read("processes.json", parse_processes_json, facts.processes);
    read("runtime/active_sessions.json", parse_active_sessions, facts.owners);
    read("gateway.pid", parse_gateway_pid, facts.owners);
    facts.unreadable = problems_;
}

Result<Home> Home::open(const std::string& dir, ProcessView view) {
    std::error_code error;
    auto place = fs::absolute(dir, error);
    if (error || !fs::exists(place, error)) {
        return fail(ErrorCode::not_found,
                    fmt::format("there is no directory {}; name the one in which Hermes keeps "
                                "state.db, as a rule ~/.hermes",
                                dir));
    }
    const bool is_database = fs::is_regular_file(place, error);
    Home home((is_database ? place.parent_path() : place).lexically_normal().string(),
              std::move(view));
    home.database_path_ = (is_database ? place : place / "state.db").lexically_normal().string();
    if (!fs::exists(home.database_path_, error)) {
        return fail(ErrorCode::not_found,
                    fmt::format("there is no state.db in {}; name the directory in which Hermes "
                                "keeps it, as a rule ~/.hermes",
                                home.dir_));
    }
    home.bytes_ = size_of(home.database_path_) + size_of(home.database_path_ + "-wal");
    // Before it is read: who opens it later only writes what comes after this moment.
    home.holders_ = find_file_holders(
        {home.database_path_, home.database_path_ + "-wal", home.database_path_ + "-shm"});
    RowJudge::Facts facts;
    home.read_files(facts);
    if (auto read = home.read_database(); !read) return std::unexpected(read.error());
    auto routed = home.state_->routing();
    if (!routed) return std::unexpected(routed.error());
    std::ranges::move(*routed, std::back_inserter(facts.routing));
    auto owners = home.state_->owners();
    if (!owners) return std::unexpected(owners.error());
    std::ranges::move(*owners, std::back_inserter(facts.owners));
    facts.files = home.holders_;
    home.routing_ = facts.routing;
    home.processes_ = facts.processes;
    home.judge_ = std::make_unique<RowJudge>(std::move(facts), home.view_);
    return home;
}

namespace {

Result<Examination> examine_once(Home& home, WallTime now, std::optional<WallTime> since) {
    Examination found{.dir = home.dir(),
                      .database = home.database_path(),
                      .schema = home.state().schema(),
                      .bytes = home.bytes(),
                      .read_a_copy = home.state().snapshot().how() == Snapshot::How::copied,
                      .in_use = home.judge().in_use(),
                      .problems = home.problems()};
    // Both the table and its mirror hold an entry: one counts.
    std::map<std::string, RoutingEntry> entries;
    for (const auto& entry : home.routing()) {
        const auto [place, is_new] = entries.try_emplace(entry.key, entry);
        if (!is_new) place->second.finalized = place->second.finalized || entry.finalized;
    }
    std::multimap<std::string, const RoutingEntry*> by_session;
    for (const auto& [key, entry] : entries) by_session.emplace(entry.session_id, &entry);
    std::set<std::string> reached;

    CensusCount count(since);
    const auto read = home.state().for_each_session([&](const SessionRow& row) -> Result<void> {
        std::optional<RowVerdict> verdict;
        if (!row.ended_at) verdict = home.judge().judge(row);
        count.add(row, verdict);
        const auto [first, last] = by_session.equal_range(row.id);
        if (first != last) reached.insert(row.id);
        for (auto place = first; place != last; ++place) {
            if (!row.ended_at && place->second->finalized) {
                found.finalized_without_end.push_back(*place->second);
            }
        }
        return {};
    });
    if (!read) return std::unexpected(read.error());
    found.census = std::move(count).finish();
    const auto orphans = home.state().count_orphan_messages();
    if (!orphans) return std::unexpected(orphans.error());
    found.census.orphan_messages = *orphans;
    found.routing_entries = static_cast<std::int64_t>(entries.size());
    for (const auto& [key, entry] : entries) {
        if (!reached.contains(entry.session_id)) ++found.dangling_entries;
    }
    const auto settings_path = (fs::path(home.dir()) / "config.yaml").string();
    if (const auto text = read_regular_file(settings_path, settings_bytes_max)) {
        auto settings = parse_settings(*text, settings_path);
        if (settings) {
            found.settings = std::move(*settings);
        } else {
            found.problems.push_back(settings.error().message);
        }
    } else if (text.error().code != ErrorCode::not_found) {
        found.problems.push_back(fmt::format("{} {}", settings_path, text.error().message));
    }
    found.hooks = read_hook_summaries((fs::path(home.dir()) / "hooks").string());
    const auto holds_at_most = process_age_max(found.settings.value_or(Settings{}), found.schema);
    for (const auto& process : home.processes()) {
        found.processes.push_back({process, judge(process, home.view(), now, holds_at_most)});
    }
    return found;
}

}  // namespace

Result<Examination> examine(const std::string& dir, const ProcessView& view, WallTime now,
                            std::optional<WallTime> since) {
    for (int attempt = 1;; ++attempt) {
        auto home = Home::open(dir, view);
        if (!home) return std::unexpected(home.error());
        auto found = examine_once(*home, now, since);
        // Somebody began to write to it: what was read may be of two moments.
        if (home->state().snapshot().is_valid()) return found;
        if (attempt == reads_max) {
            return fail(ErrorCode::blocked,
                        fmt::format("{} changed each of the {} times that it was read; try again "
                                    "later",
                                    home->database_path(), reads_max));
        }
    }
}

}  // namespace knell::hermes
