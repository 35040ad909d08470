#include "functional/harness/inside.hpp"

#include <cerrno>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "functional/harness/waiting.hpp"

namespace knell::functional {

Spawn inside(Spawn spawn, bool mount_proc) {
    std::vector<std::string> argv{"unshare", "--pid", "--fork", "--kill-child"};
    if (mount_proc) argv.emplace_back("--mount-proc");
    argv.insert(argv.end(), spawn.argv.begin(), spawn.argv.end());
    spawn.argv = std::move(argv);
    return spawn;
}

void wait_until_unlocked(const TempHome& home) {
    const Fd lock{::open(home.file("knell.lock").c_str(), O_RDWR | O_CLOEXEC)};
    while (lock && ::flock(lock.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
}

bool may_unshare() {
    Spawn spawn;
    spawn.argv = {"true"};
    return run_command(inside(spawn)).status == 0;
}

std::string line_of(const Pipe& pipe, std::string& said) {
    while (!said.contains('\n')) {
        wait_for(pipe.reading.get(), POLLIN, "a line");
        if (!read_available(pipe.reading.get(), said)) throw std::runtime_error("no line came");
    }
    auto line = said.substr(0, said.find('\n'));
    said.erase(0, line.size() + 1);
    return line;
}

void InsideDaemon::SetUp() {
    if (!may_unshare()) GTEST_SKIP() << "needs the right to make a pid namespace (unshare)";
    start();
}

void InsideDaemon::end() {
    daemon.reset();
    wait_until_unlocked(home);
}

void InsideDaemon::start() {
    auto spawn = inside(home.command({"up"}));
    Pipe log;
    spawn.err = spawn.out = log.writing.get();
    daemon.emplace(spawn);
    log.writing.reset();
    std::string said;
    while (!said.contains("listens at")) {
        wait_for(log.reading.get(), POLLIN, "a daemon inside");
        if (!read_available(log.reading.get(), said)) throw std::runtime_error(said);
    }
    logs.push_back(std::move(log));
}

Json InsideDaemon::show(const std::string& id) {
    Client client(home.socket());
    return client.must("session.show", fmt::format(R"({{"session_id":"{}"}})", id));
}

std::uint64_t InsideDaemon::inode_inside() const {
    const auto children = read_file(fmt::format("/proc/{0}/task/{0}/children", daemon->pid()));
    struct stat link{};
    const auto path = fmt::format("/proc/{}/ns/pid", std::stol(children));
    if (::stat(path.c_str(), &link) != 0) throw std::runtime_error("no namespace");
    return link.st_ino;
}

void InsideDaemon::keep_that_inode_taken() {
    Spawn spawn;
    spawn.argv = {"sleep", "600"};
    taken.emplace(inside(spawn));
    const auto children = fmt::format("/proc/{0}/task/{0}/children", taken->pid());
    while (read_file(children).empty()) {
        pollfd nothing{.fd = -1, .events = 0, .revents = 0};
        ::poll(&nothing, 1, 1);
    }
}

std::string InsideDaemon::last_seen(const std::string& id) {
    Client client(home.socket());
    return text(client.must("session.why", fmt::format(R"({{"session_id":"{}"}})", id)),
                "evidence");
}

}  // namespace knell::functional
