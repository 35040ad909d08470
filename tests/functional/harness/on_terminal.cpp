#include "functional/harness/on_terminal.hpp"

#include <poll.h>

#include "functional/harness/process.hpp"
#include "functional/harness/pty.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {

int on_terminal(const TempHome& home, std::vector<std::string> arguments, std::string_view typed,
                std::string& shown) {
    Pty pty;
    auto spawn = home.command(std::move(arguments));
    spawn.environment["PAGER"] = "cat";
    spawn.in = spawn.out = spawn.err = pty.slave.get();
    Process process(spawn);
    pty.slave.reset();
    if (!typed.empty()) {
        pty.wait_until_shown("[y/N] ");
        pty.type(typed);
    }
    while (read_available(pty.master.get(), pty.shown)) {
        wait_for(pty.master.get(), POLLIN, "the end of the output");
    }
    shown = pty.shown;
    return process.wait();
}

}  // namespace knell::functional
