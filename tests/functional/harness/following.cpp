#include "functional/harness/following.hpp"

#include <stdexcept>

#include <poll.h>

#include "functional/harness/client.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {

Following::Following(const TempHome& home, std::vector<std::string> more) {
    std::vector<std::string> arguments{"events", "--follow"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto spawn = home.command(std::move(arguments));
    spawn.out = pipe_.writing.get();
    process_.emplace(spawn);
    pipe_.writing.reset();
}

std::string Following::line() {
    for (;;) {
        if (const auto end = said_.find('\n'); end != std::string::npos) {
            auto line = said_.substr(0, end);
            said_.erase(0, end + 1);
            return line;
        }
        wait_for(pipe_.reading.get(), POLLIN, "a line of knell events");
        if (!read_available(pipe_.reading.get(), said_)) {
            throw std::runtime_error("knell events has ended");
        }
    }
}

std::int64_t Following::seq() {
    return number(parse(line()), "seq");
}

}  // namespace knell::functional
