#include "functional/harness/receiver.hpp"

#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>

#include "functional/harness/client.hpp"
#include "functional/harness/temp_home.hpp"
#include "functional/harness/waiting.hpp"
#include "platform/small_file.hpp"

namespace knell::functional {

namespace {

/// The build tree's copy of tests/receivers.
const std::string folder = KNELL_RECEIVERS_DIR;

bool there_is(const std::string& program) {
    return run_command({.argv = {"sh", "-c", "command -v " + program}}).status == 0;
}

/// Does nothing when what package-lock.json names is there already.  Gives what went wrong: without
/// a network there can be no receiver, and everything else can still be tested.
std::optional<std::string> install_packages() {
    // Tests run side by side: one installs, the others wait for it.
    const Fd lock(::open((folder + "/install.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock || ::flock(lock.get(), LOCK_EX) != 0)
        throw std::runtime_error("cannot lock " + folder);
    const auto wanted = read_file(folder + "/package-lock.json");
    const auto installed = folder + "/installed-lock.json";
    if (read_small_file(installed) == wanted) return std::nullopt;
    const auto npm = run_command(
        {.argv = {"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=http"},
         .cwd = folder});
    if (npm.status != 0) return "npm cannot fetch its packages:\n" + npm.err;
    write_file(installed, wanted);
    return std::nullopt;
}

}  // namespace

std::optional<std::string> why_no_receiver() {
    for (const auto* program : {"node", "npm"}) {
        if (!there_is(program)) return std::string("needs ") + program + ", which is not in PATH";
    }
    return install_packages();
}

Receiver::Receiver(const std::string& secret, const std::string& mode) {
    ::fcntl(out_.reading.get(), F_SETFL, O_NONBLOCK);
    node_.emplace(Spawn{.argv = {"node", "receiver.mjs", secret, mode},
                        .cwd = folder,
                        .in = in_.reading.get(),
                        .out = out_.writing.get(),
                        .err = STDERR_FILENO});
    out_.writing.reset();
    port_ = number(next(), "port");
}

std::string Receiver::url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
}

Json Receiver::next() {
    while (!said_.contains('\n')) {
        wait_for(out_.reading.get(), POLLIN, "a word of the receiver");
        if (!read_available(out_.reading.get(), said_)) {
            throw std::runtime_error("the receiver has ended");
        }
    }
    const auto line = said_.substr(0, said_.find('\n'));
    said_.erase(0, line.size() + 1);
    return parse(line);
}

bool Receiver::is_quiet() {
    read_available(out_.reading.get(), said_);
    return said_.empty();
}

}  // namespace knell::functional
