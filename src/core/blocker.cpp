#include "core/blocker.hpp"

#include <utility>

#include "base/text.hpp"
#include "core/names.hpp"

namespace knell {

namespace {

void append_time(std::string& lines, const std::optional<WallTime>& time) {
    if (time) lines += std::to_string(to_millis(*time));
}

std::optional<WallTime> time_in(std::string_view field) {
    if (field.empty()) return std::nullopt;
    return from_millis(number_in<std::int64_t>(field));
}

}  // namespace

std::string to_lines(const std::vector<Blocker>& blockers) {
    std::string lines;
    for (const auto& blocker : blockers) {
        append_escaped(lines, blocker.process_id.text());
        lines += '\t';
        lines += std::to_string(blocker.pid);
        lines += '\t';
        append_escaped(lines, blocker.command);
        lines += '\t';
        append_time(lines, blocker.started_at);
        lines += '\t';
        lines += name_in(process_activity_names, blocker.activity);
        lines += '\t';
        append_time(lines, blocker.vouched_until);
        lines += '\t';
        append_time(lines, blocker.until);
        lines += '\n';
    }
    return lines;
}

std::vector<Blocker> blockers_from_lines(std::string_view lines) {
    std::vector<Blocker> blockers;
    while (!lines.empty()) {
        auto line = take_field(lines, '\n');
        Blocker blocker;
        blocker.process_id = ProcessId(unescaped(take_field(line, '\t')));
        blocker.pid = number_in<std::int32_t>(take_field(line, '\t'));
        blocker.command = unescaped(take_field(line, '\t'));
        blocker.started_at = time_in(take_field(line, '\t')).value_or(WallTime{});
        // What cannot be told counts as work: nothing may be ended on it.
        blocker.activity = find_in<ProcessActivity>(process_activity_names, take_field(line, '\t'))
                               .value_or(ProcessActivity::working);
        blocker.vouched_until = time_in(take_field(line, '\t'));
        blocker.until = time_in(take_field(line, '\t'));
        blockers.push_back(std::move(blocker));
    }
    return blockers;
}

}  // namespace knell
