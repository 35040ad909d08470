#include "core/leftover.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace knell {

namespace {

std::string_view take(std::string_view& text, char until) {
    const auto end = std::min(text.find(until), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

template <typename Number>
Number to_number(std::string_view word) {
    Number number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    return number;
}

}  // namespace

bool has_unsettled(const std::vector<Leftover>& leftovers) {
    return std::ranges::find(leftovers, Fate::stopping, &Leftover::fate) != leftovers.end();
}

std::string to_lines(const std::vector<Leftover>& leftovers) {
    std::string lines;
    for (const auto& leftover : leftovers) {
        auto command = leftover.command;
        std::ranges::replace_if(
            command, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
        const auto& process = leftover.process;
        lines += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", process.pid, process.start_ticks,
                             leftover.found_by, command, name_in(fate_names, leftover.fate),
                             process.pid_namespace, process.boot_id);
    }
    return lines;
}

std::vector<Leftover> leftovers_from_lines(std::string_view lines) {
    std::vector<Leftover> leftovers;
    while (!lines.empty()) {
        auto line = take(lines, '\n');
        Leftover leftover;
        auto& process = leftover.process;
        process.pid = to_number<std::int32_t>(take(line, '\t'));
        process.start_ticks = to_number<std::uint64_t>(take(line, '\t'));
        leftover.found_by = take(line, '\t');
        leftover.command = take(line, '\t');
        // Older versions wrote no more than this.
        leftover.fate = find_in<Fate>(fate_names, take(line, '\t')).value_or(Fate::unknown);
        process.pid_namespace = to_number<std::uint64_t>(take(line, '\t'));
        process.boot_id = line;
        leftovers.push_back(std::move(leftover));
    }
    return leftovers;
}

}  // namespace knell
