#include "functional/harness/resources.hpp"

#include <string>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "functional/harness/temp_home.hpp"

namespace knell::functional {

std::size_t memory_of(pid_t pid) {
    const auto statm = read_file(fmt::format("/proc/{}/statm", pid));
    const auto pages = std::stoul(statm.substr(statm.find(' ') + 1));
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

Resources resources_of(pid_t pid) {
    return {.memory = memory_of(pid),
            .threads = names_in(fmt::format("/proc/{}/task", pid)).size(),
            .descriptors = names_in(fmt::format("/proc/{}/fd", pid)).size()};
}

std::size_t raise_descriptor_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace knell::functional
