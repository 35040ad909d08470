#include "platform/port_holder.hpp"

#include <charconv>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view listening = "0A";

/// The words of a line, split at blanks.
std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) {
        const auto word = take_field(line, ' ');
        if (!word.empty()) words.push_back(word);
    }
    return words;
}

bool is_port(std::string_view address, std::uint16_t port) {
    const auto digits = address.substr(address.rfind(':') + 1);
    unsigned found = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), found, 16);
    return found == port;
}

bool holds(const fs::path& process, const std::string& link) {
    std::error_code error;
    for (fs::directory_iterator files(process / "fd", error), end; !error && files != end;
         files.increment(error)) {
        std::error_code gone;
        if (fs::read_symlink(files->path(), gone) == link) return true;
    }
    return false;
}

std::string name_of(const fs::path& process) {
    auto name = read_small_file((process / "comm").string()).value_or("?");
    name.erase(name.find_last_not_of('\n') + 1);
    return name;
}

}  // namespace

std::string listening_inode(std::string_view table, std::uint16_t port) {
    take_field(table, '\n');  // names of the columns
    while (!table.empty()) {
        const auto words = words_of(take_field(table, '\n'));
        if (words.size() < 10 || words[3] != listening || !is_port(words[1], port)) continue;
        return std::string(words[9]);
    }
    return {};
}

std::optional<std::string> find_port_holder(std::uint16_t port) {
    std::string inode;
    for (const auto* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
        if (inode.empty()) inode = listening_inode(read_small_file(table).value_or(""), port);
    }
    if (inode.empty()) return std::nullopt;
    const auto link = fmt::format("socket:[{}]", inode);
    std::error_code error;
    for (fs::directory_iterator processes("/proc", error), end; !error && processes != end;
         processes.increment(error)) {
        const auto pid = processes->path().filename().string();
        if (number_in<pid_t>(pid) > 0 && holds(processes->path(), link)) {
            return fmt::format("process {} ({})", pid, name_of(processes->path()));
        }
    }
    return std::nullopt;
}

}  // namespace knell
