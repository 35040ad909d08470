#include "cli/sweep_report.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "cli/session_rows.hpp"
#include "cli/table.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

constexpr std::size_t ids_shown_max = 3;

std::string sessions_text(std::int64_t count) {
    return fmt::format("{} session{}", count, count == 1 ? "" : "s");
}

// Lists rather than tables: evidence is read whole, however narrow the terminal.

/// Sessions that are left alone for the same reason.
struct Group {
    std::string verdict;
    std::string why;
    std::int64_t count = 0;
    std::vector<std::string> ids;  // the first few
};

void add_to(std::vector<Group>& groups, const JsonObject& session) {
    const auto verdict = text_at(session, "verdict");
    const auto why = text_at(session, "why");
    auto group = std::ranges::find_if(
        groups, [&](const Group& one) { return one.verdict == verdict && one.why == why; });
    if (group == groups.end()) {
        groups.push_back({std::string(verdict), std::string(why), 0, {}});
        group = groups.end() - 1;
    }
    if (group->ids.size() < ids_shown_max) {
        group->ids.push_back(one_line(text_at(session, "session_id")));
    }
    ++group->count;
}

void add_named(std::vector<Group>& groups, const JsonObject& sweep, bool alive) {
    const auto* left = wire::array_at(sweep, "left_alone");
    if (left == nullptr) return;
    for (const auto& session : *left) {
        const auto* object = session.if_object();
        if (object == nullptr || (text_at(*object, "verdict") == "alive") != alive) continue;
        add_to(groups, *object);
    }
}

/// The daemon counts what it does not name one by one.
void add_counted(std::vector<Group>& groups, const JsonObject& sweep, std::string_view name,
                 std::string_view verdict) {
    const auto* counted = wire::object_at(sweep, name);
    if (counted == nullptr || int_at(*counted, "count") == 0) return;
    groups.push_back({std::string(verdict),
                      std::string(text_at(*counted, "why")),
                      int_at(*counted, "count"),
                      {}});
}

std::vector<Group> groups_of(const JsonObject& sweep) {
    std::vector<Group> groups;
    // What nobody can vouch for first: it is what a person may want to act on.
    add_named(groups, sweep, /*alive=*/false);
    add_named(groups, sweep, /*alive=*/true);
    add_counted(groups, sweep, "parked", "parked");
    add_counted(groups, sweep, "leases", "lease");
    std::int64_t told = 0;
    for (const auto& group : groups) told += group.count;
    if (const auto more = int_at(sweep, "left_alone_count") - told; more > 0) {
        groups.push_back({"more", "not named here", more, {}});
    }
    return groups;
}

/// ": a, b, c and 4 more"
std::string ids_text(const Group& group) {
    if (group.ids.empty()) return {};
    const auto more = group.count - static_cast<std::int64_t>(group.ids.size());
    return fmt::format(": {}{}", fmt::join(group.ids, ", "),
                       more == 0 ? "" : fmt::format(" and {} more", more));
}

/// "BEFORE WORD: REST", the word in its tone, what has no room indented below.
std::string item_line(const std::string& before, const Cell& word, const std::string& rest,
                      const Terminal& terminal) {
    const auto width = display_width(before) + display_width(word.text) + 2;
    return fmt::format("{}{}: {}\n", before, toned(word.text, word.tone, terminal),
                       wrap(rest, {.width = terminal.width, .indent = 2, .before = width}));
}

}  // namespace

std::string sweep_ends(const JsonObject& sweep, const Terminal& terminal) {
    const bool dry_run = wire::bool_at(sweep, "dry_run");
    const auto count = int_at(sweep, "ended_count");
    if (count == 0) {
        return wrap(fmt::format("{}: no owner is proven dead",
                                dry_run ? "nothing would be ended" : "nothing was ended"),
                    {.width = terminal.width}) +
               "\n";
    }
    auto text = fmt::format("{} {}\n", dry_run ? "would end" : "ended", sessions_text(count));
    const auto* ended = wire::array_at(sweep, "ended");
    if (ended == nullptr) return text;
    std::int64_t named = 0;
    for (const auto& session : *ended) {
        const auto* object = session.if_object();
        if (object == nullptr) continue;
        ++named;
        text += item_line(fmt::format("- {} as ", one_line(text_at(*object, "session_id"))),
                          {std::string(text_at(*object, "reason")), tone_of_end(*object)},
                          one_line(text_at(*object, "evidence")), terminal);
    }
    if (count > named) text += fmt::format("- {} more, not named here\n", count - named);
    return text;
}

std::string sweep_left_alone(const JsonObject& sweep, const Terminal& terminal) {
    const auto groups = groups_of(sweep);
    if (groups.empty()) return {};
    auto text =
        fmt::format("{} {} alone\n", wire::bool_at(sweep, "dry_run") ? "would leave" : "left",
                    sessions_text(int_at(sweep, "left_alone_count")));
    for (const auto& group : groups) {
        text += item_line(fmt::format("- {} ", group.count),
                          {group.verdict, tone_of_status(group.verdict)},
                          one_line(group.why) + ids_text(group), terminal);
    }
    return text;
}

}  // namespace knell::cli
