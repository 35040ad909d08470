#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/exit_status.hpp"
#include "platform/terminal.hpp"

namespace knell::cli {

namespace {

void put(std::FILE* file, std::string_view text) {
    // Not fmt::print: it throws when the disk is full.
    (void)std::fwrite(text.data(), 1, text.size(), file);
}

}  // namespace

void print(std::string_view text) {
    put(stdout, text);
}

void print_line(std::string_view text) {
    print(text);
    print("\n");
}

void print_json(const Json& value) {
    print_line(wire::to_pretty_text(value));
}

void note(std::string_view text) {
    // In one piece: a line must not be torn by what a wrapped command writes at the same time.
    auto line = fmt::format("{}\n", text);
    if (needs_carriage_returns(STDERR_FILENO)) {
        for (std::size_t at = 0; (at = line.find('\n', at)) != std::string::npos; at += 2) {
            line.insert(at, "\r");
        }
    }
    put(stderr, line);
}

int complain(std::string_view verb, std::string_view message) {
    note(fmt::format("knell {}: {}", verb, message));
    return exit_failed;
}

int complain(std::string_view verb, const Error& error) {
    return complain(verb, error.message);
}

int finish_output(int status) {
    const bool written = std::ferror(stdout) == 0;
    if (std::fflush(stdout) == 0 && written) return status;
    note(fmt::format("knell: cannot write to standard output: {}",
                     std::generic_category().message(errno)));
    return status == exit_done ? exit_failed : status;
}

bool confirm(std::string_view question) {
    put(stderr, fmt::format("{} [y/N] ", question));
    char answer[16] = {};
    if (std::fgets(answer, sizeof answer, stdin) == nullptr) return false;
    const std::string_view text = answer;
    return text == "y\n" || text == "Y\n" || text == "yes\n" || text == "Yes\n";
}

}  // namespace knell::cli
