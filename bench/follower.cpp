#include "follower.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/socket.h>

#include "client/socket.hpp"
#include "must.hpp"
#include "samples.hpp"

namespace knell::bench {

namespace {

constexpr std::chrono::seconds connect_max{10};
constexpr std::size_t buffer_bytes = 256U << 10U;

}  // namespace

Fd subscribe(const std::string& socket, const std::string& params) {
    auto connection = must(client::connect_socket(socket, client::Deadline{connect_max}));
    const auto line =
        fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{}}})"
                    "\n",
                    params);
    must(send(connection.get(), line.data(), line.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(line.size()),
         "subscribing");
    // The answer comes before the first event.
    char byte = 0;
    while (byte != '\n') must(recv(connection.get(), &byte, 1, 0) == 1, "subscribing");
    return connection;
}

Follower::Follower(const std::string& socket, std::int64_t after, std::size_t count)
    : socket_(subscribe(socket, fmt::format(R"({{"after":{}}})", after))) {
    arrivals_.reserve(count);
    thread_ = std::thread([this, count] { read(count); });
}

Follower::~Follower() {
    shutdown(socket_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
}

void Follower::finish() {
    thread_.join();
    if (!done_) throw Failed(fmt::format("a feed ended after {} events", arrivals_.size()));
}

void Follower::read(std::size_t count) {
    std::vector<char> buffer(buffer_bytes);
    while (arrivals_.size() < count) {
        const auto size = recv(socket_.get(), buffer.data(), buffer.size(), 0);
        if (size <= 0) return;
        const auto lines = std::count(buffer.data(), buffer.data() + size, '\n');
        arrivals_.insert(arrivals_.end(), static_cast<std::size_t>(lines), seconds_now());
    }
    done_ = true;
}

}  // namespace knell::bench
