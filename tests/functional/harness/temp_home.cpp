#include "functional/harness/temp_home.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <signal.h>
#include <sys/stat.h>
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
    end_what_runs();
    std::error_code ignored;
    fs::remove_all(root_, ignored);
}

Spawn TempHome::command(std::vector<std::string> arguments) const {
    // Homes of tests that run at once would want the same port.
    const bool is_up = !arguments.empty() && arguments.front() == "up";
    if (is_up && std::ranges::find(arguments, "--http") == arguments.end()) {
        arguments.insert(arguments.end(), {"--http", "off"});
    }
    arguments.insert(arguments.begin(), knell_binary());
    Spawn spawn;
    spawn.argv = std::move(arguments);
    spawn.environment = environment();
    return spawn;
}

Outcome TempHome::knell(std::vector<std::string> arguments, std::string_view input) const {
    return run_command(command(std::move(arguments)), input);
}

std::vector<pid_t> TempHome::processes() const {
    auto all = orphans();
    std::erase_if(all, [&](pid_t pid) {
        return !read_file("/proc/" + std::to_string(pid) + "/environ").contains(root_);
    });
    return all;
}

/// Until there are none: a daemon may be on its way up, and becomes ours when its launcher goes.
void TempHome::end_what_runs() const {
    for (auto left = processes(); !left.empty(); left = processes()) {
        for (const auto pid : left) {
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, 0);
        }
    }
}

unsigned mode_of(const std::string& path) {
    struct stat found{};
    return stat(path.c_str(), &found) == 0 ? found.st_mode & 07777U : 0;
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
