#include "platform/own_process.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <sys/resource.h>
#include <sys/stat.h>

#include "platform/small_file.hpp"

namespace knell {

namespace {

/// The number behind the name of a line such as "VmRSS:\t    4012 kB".
std::int64_t number_in(std::string_view line) {
    const auto start = line.find_first_of("0123456789");
    std::int64_t number = 0;
    if (start == std::string_view::npos) return number;
    std::from_chars(line.data() + start, line.data() + line.size(), number);
    return number;
}

std::int64_t count_descriptors() {
    constexpr auto directory = "/proc/self/fd";
    // Since Linux 6.2 the kernel tells how many there are; before, thousands of names are read.
    struct stat facts{};
    if (stat(directory, &facts) == 0 && facts.st_size > 0) return facts.st_size;
    std::error_code error;
    std::filesystem::directory_iterator entries(directory, error);
    std::int64_t count = 0;
    while (!error && entries != std::filesystem::directory_iterator{}) {
        ++count;
        entries.increment(error);
    }
    return std::max<std::int64_t>(count - 1, 0);  // without the one that it is read through
}

}  // namespace

OwnProcess parse_own_status(std::string_view status) {
    OwnProcess found;
    while (!status.empty()) {
        const auto line = status.substr(0, status.find('\n'));
        status.remove_prefix(std::min(line.size() + 1, status.size()));
        if (line.starts_with("VmRSS:")) found.resident_bytes = number_in(line) * 1024;
        if (line.starts_with("Threads:")) found.threads = number_in(line);
    }
    return found;
}

OwnProcess read_own_process() {
    auto found = parse_own_status(read_small_file("/proc/self/status").value_or(""));
    found.descriptors = count_descriptors();
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        found.descriptors_max = static_cast<std::int64_t>(
            std::min<rlim_t>(limit.rlim_cur, INT64_MAX));  // "unlimited" is the highest there is
    }
    return found;
}

}  // namespace knell
