#include "machine.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/clock.hpp"
#include "platform/small_file.hpp"
#include "platform/version.hpp"

namespace knell::bench {

namespace {

std::string cpu_model() {
    const auto text = read_small_file("/proc/cpuinfo").value_or("");
    const auto at = text.find("model name");
    if (at == std::string::npos) return "unknown";
    const auto start = text.find(": ", at) + 2;
    return text.substr(start, text.find('\n', start) - start);
}

}  // namespace

std::string load_average() {
    const auto text = read_small_file("/proc/loadavg").value_or("");
    std::size_t end = 0;
    for (int number = 0; number < 3; ++number) end = text.find(' ', end) + 1;
    return end == 0 ? "" : text.substr(0, end - 1);
}

JsonObject describe_machine(const std::string& directory) {
    utsname system{};
    uname(&system);
    struct statfs disk{};
    statfs(directory.c_str(), &disk);
    const auto memory = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return {{"at", format_rfc3339(read_clocks().wall)},
            {"version", version},
            {"commit", commit},
            {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
            {"cpu", cpu_model()},
            {"memory_bytes", memory},
            {"kernel", system.release},
            {"directory", directory},
            {"filesystem_magic", fmt::format("{:#x}", disk.f_type)},
            {"sqlite", sqlite3_libversion()},
            {"load_average", load_average()}};
}

}  // namespace knell::bench
