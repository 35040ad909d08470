#include "machine.hpp"

#include <cstdio>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/utsname.h>
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

/// "ext4 on /dev/vda": of the longest mount point that `directory` lies under.
std::string disk_of(const std::string& directory) {
    std::istringstream mounts(read_small_file("/proc/self/mounts").value_or(""));
    std::string best = "unknown";
    std::size_t longest = 0;
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words(line);
        std::string device;
        std::string point;
        std::string type;
        words >> device >> point >> type;
        if (!directory.starts_with(point) || point.size() < longest) continue;
        longest = point.size();
        best = fmt::format("{} on {}", type, device);
    }
    return best;
}

/// The word after `start` in what `command` prints first; "not installed" when that is nothing.
std::string version_from(const char* command, std::string_view start) {
    const auto close = [](FILE* pipe) { pclose(pipe); };
    const std::unique_ptr<FILE, decltype(close)> pipe(popen(command, "r"), close);
    char line[200] = "";
    if (!pipe || fgets(line, sizeof line, pipe.get()) == nullptr) return "not installed";
    std::string_view text(line);
    const auto at = text.find(start);
    if (at == std::string_view::npos) return "unknown";
    text.remove_prefix(at + start.size());
    return std::string(text.substr(0, text.find_first_of(" \n")));
}

std::string compiler() {
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
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
    const auto memory = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return {{"at", format_rfc3339(read_clocks().wall)},
            {"version", version},
            {"commit", commit},
            {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
            {"cpu", cpu_model()},
            {"memory_bytes", memory},
            {"kernel", system.release},
            {"directory", directory},
            {"disk", disk_of(directory)},
            {"compiler", compiler()},
            {"sqlite", sqlite3_libversion()},
            {"etcd", version_from("etcd --version 2>/dev/null", "etcd Version: ")},
            {"redis", version_from("redis-server --version 2>/dev/null", "v=")},
            {"mosquitto", version_from("/usr/sbin/mosquitto -h 2>/dev/null", "version ")},
            {"load_average", load_average()}};
}

}  // namespace knell::bench
