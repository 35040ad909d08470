#include "core/owner.hpp"

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

std::string to_lines(const std::vector<ProcessIdentity>& processes) {
    std::string lines;
    for (const auto& process : processes) {
        lines += fmt::format("{}\t{}\t{}\t{}\n", process.pid, process.start_ticks,
                             process.pid_namespace, process.boot_id);
    }
    return lines;
}

std::vector<ProcessIdentity> processes_from_lines(std::string_view lines) {
    std::vector<ProcessIdentity> processes;
    while (!lines.empty()) {
        auto line = take(lines, '\n');
        ProcessIdentity process;
        process.pid = to_number<std::int32_t>(take(line, '\t'));
        process.start_ticks = to_number<std::uint64_t>(take(line, '\t'));
        process.pid_namespace = to_number<std::uint64_t>(take(line, '\t'));
        process.boot_id = line;
        processes.push_back(std::move(process));
    }
    return processes;
}

}  // namespace knell
