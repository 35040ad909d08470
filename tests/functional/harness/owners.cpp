#include "functional/harness/owners.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functional/harness/waiting.hpp"
#include "functional/harness/world.hpp"

namespace knell::functional {

Puppet::Puppet(Environment environment) {
    Spawn spawn;
    spawn.argv = {"sh"};
    spawn.environment = std::move(environment);
    spawn.in = in_.reading.get();
    spawn.out = out_.writing.get();
    shell_.emplace(spawn);
    in_.reading.reset();
    out_.writing.reset();
}

void Puppet::tell(const std::string& line) {
    const auto text = line + "\n";
    if (::write(in_.writing.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw std::runtime_error("a puppet does not listen");
    }
}

std::string Puppet::ask(const std::string& line) {
    tell(line);
    while (!said_.contains('\n')) {
        wait_for(out_.reading.get(), POLLIN, "a puppet's answer");
        if (!read_available(out_.reading.get(), said_))
            throw std::runtime_error("a puppet is gone");
    }
    const auto end = said_.find('\n');
    auto answer = said_.substr(0, end);
    said_.erase(0, end + 1);
    return answer;
}

pid_t Puppet::ask_pid(const std::string& line) {
    return static_cast<pid_t>(std::stol(ask(line)));
}

Process idle_process() {
    Spawn spawn;
    spawn.argv = {"sleep", "infinity"};
    return Process(spawn);
}

bool is_running(pid_t pid) {
    const Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U))};
    pollfd watched{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
    return pidfd && ::poll(&watched, 1, 0) == 0;
}

Stray::Stray(pid_t pid) : pid_(pid), pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U))) {
    if (!pidfd_) throw std::runtime_error(fmt::format("no process {}", pid));
}

Stray::~Stray() {
    if (!pidfd_) return;
    kill();
    // Orphans come to the test, which is a subreaper: whoever does not wait leaves zombies.
    ::waitpid(pid_, nullptr, 0);
}

bool Stray::is_running() const {
    pollfd watched{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&watched, 1, 0) == 0;
}

void Stray::kill() const {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0U);
}

void Stray::wait_until_gone() const {
    wait_for(pidfd_.get(), POLLIN, "the end of a stray process");
}

void WithOwners::own(const std::string& id, pid_t owner, const std::string& more) {
    client.must("session.create",
                fmt::format(R"({{"id":"{}","source":"cli","owner":{{"pid":{}}}{}{}}})", id, owner,
                            more.empty() ? "" : ",", more));
}

Json WithOwners::ended(const std::string& id) {
    Json session;
    until(
        [&] {
            session = show(id);
            return text(session, "status") == "ended";
        },
        ("the end of session " + id).c_str());
    return session;
}

void WithOwners::expect_end_of_reaped(const std::string& id, std::string_view reason,
                                      std::string_view detail) {
    const bool lost = text(ended(id), "reason") == "owner_lost" && !world().keeps_exit_status();
    expect_end(id, lost ? "owner_lost" : reason, lost ? "" : detail);
}

void WithOwners::expect_end(const std::string& id, std::string_view reason,
                            std::string_view detail) {
    SCOPED_TRACE(id);
    const auto session = ended(id);
    EXPECT_EQ(text(session, "reason"), reason);
    EXPECT_EQ(text(session, "detail"), detail);
    EXPECT_NE(text(session, "evidence"), "");
    expect_ordered_bounds(session);
    const auto ends = client.must(
        "events.read", fmt::format(R"({{"session_id":"{}","types":["session:end"]}})", id));
    EXPECT_EQ(array(ends, "events").size(),
              static_cast<std::size_t>(number(session, "generation")));
}

std::size_t WithOwners::count_events(std::string_view type) {
    std::size_t count = 0;
    for (const auto& event : all_events(client)) count += text(event, "type") == type ? 1U : 0U;
    return count;
}

void WithOwners::let_observers_speak() {
    auto last = idle_process();
    const auto id = fmt::format("barrier-{}", ++barriers_);
    own(id, last.pid());
    last.signal(SIGKILL);
    ended(id);
    // Whatever a look at all owners finds is decided before this is answered twice.
    client.must("node.sweep");
    client.must("node.sweep");
}

void expect_ordered_bounds(const Json& session) {
    // RFC 3339 in UTC with milliseconds: text order is time order.
    EXPECT_LE(text(session, "ended_after"), text(session, "ended_at"));
    EXPECT_LE(text(session, "ended_at"), text(session, "ended_before"));
}

}  // namespace knell::functional
