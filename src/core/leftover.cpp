#include "core/leftover.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace knell {

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
        lines += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", process.pid, process.start_ticks,
                             leftover.found_by, command, name_in(fate_names, leftover.fate),
                             process.pid_namespace, process.boot_id, leftover.process_id.text());
    }
    return lines;
}

std::vector<Leftover> leftovers_from_lines(std::string_view lines) {
    std::vector<Leftover> leftovers;
    while (!lines.empty()) {
        auto line = take_field(lines, '\n');
        Leftover leftover;
        auto& process = leftover.process;
        process.pid = number_in<std::int32_t>(take_field(line, '\t'));
        process.start_ticks = number_in<std::uint64_t>(take_field(line, '\t'));
        leftover.found_by = take_field(line, '\t');
        leftover.command = take_field(line, '\t');
        // Older versions wrote no more than this, and later ones nothing after the boot.
        leftover.fate = find_in<Fate>(fate_names, take_field(line, '\t')).value_or(Fate::unknown);
        process.pid_namespace = number_in<std::uint64_t>(take_field(line, '\t'));
        process.boot_id = take_field(line, '\t');
        leftover.process_id = ProcessId(std::string(line));
        leftovers.push_back(std::move(leftover));
    }
    return leftovers;
}

}  // namespace knell
