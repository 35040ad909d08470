#include "functional/harness/temp_home.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

namespace knell::functional {

namespace fs = std::filesystem;

TempHome::TempHome(std::string_view below) {
    auto pattern = (fs::temp_directory_path() / "knell-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    root_ = pattern;
    path_ = below.empty() ? root_ : root_ + "/" + std::string(below);
}

TempHome::~TempHome() {
    end_daemon();
    std::error_code ignored;
    fs::remove_all(root_, ignored);
}

Spawn TempHome::command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), knell_binary());
    Spawn spawn;
    spawn.argv = std::move(arguments);
    spawn.environment = environment();
    return spawn;
}

Outcome TempHome::knell(std::vector<std::string> arguments, std::string_view input) const {
    return run_command(command(std::move(arguments)), input);
}

void TempHome::end_daemon() const {
    const Fd lock{::open(file("knell.lock").c_str(), O_RDWR | O_CLOEXEC)};
    if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return;
    const auto pid = static_cast<pid_t>(std::atoi(read_file(file("knell.lock")).c_str()));
    if (pid <= 1 || pid == ::getpid()) return;
    ::kill(pid, SIGKILL);
    // Its launcher may not be done with it yet; the lock is free once it is gone, whoever waits.
    while (::flock(lock.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
    ::waitpid(pid, nullptr, 0);
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

void write_file(const std::string& path, std::string_view text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(folder, absent)) {
        names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
}

}  // namespace knell::functional
