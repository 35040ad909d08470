#include "load_client.hpp"

#include <array>
#include <charconv>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "client/socket.hpp"
#include "must.hpp"
#include "samples.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t buffer_bytes = 256U << 10U;
constexpr int patience_ms = 60'000;
constexpr std::chrono::seconds connect_max{10};
constexpr std::string_view line_start = R"({"jsonrpc":"2.0","id":)";

}  // namespace

LoadClient::LoadClient(const std::string& socket, std::size_t connections)
    : is_web_(false), epoll_(epoll_create1(EPOLL_CLOEXEC)), buffer_(buffer_bytes) {
    for (std::size_t i = 0; i < connections; ++i) {
        add(must(client::connect_socket(socket, client::Deadline{connect_max})));
    }
}

LoadClient::LoadClient(const WebAddress& web, std::size_t connections)
    : is_web_(true), epoll_(epoll_create1(EPOLL_CLOEXEC)), buffer_(buffer_bytes) {
    for (std::size_t i = 0; i < connections; ++i) add(open_web_socket(web));
}

void LoadClient::add(Fd socket) {
    const int fd = socket.get();
    must(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0, "fcntl");
    epoll_event event{.events = EPOLLIN, .data = {.u64 = clients_.size()}};
    must(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
    clients_.emplace_back().socket = std::move(socket);
}

LoadResult LoadClient::run(const Load& load) {
    sent_ = 0;
    sent_at_.assign(load.calls, 0);
    micros_.clear();
    micros_.reserve(load.calls);
    const auto start = seconds_now();
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        for (std::size_t n = 0; n < load.window; ++n) call_next(clients_[i], load);
        flush(i);
    }
    std::array<epoll_event, 64> events{};
    while (micros_.size() < load.calls) {
        const auto count = epoll_wait(epoll_.get(), events.data(), events.size(), patience_ms);
        must(count >= 0, "waiting for answers");
        if (count == 0) throw Failed(fmt::format("{}: no answer for a minute", load.method));
        for (int i = 0; i < count; ++i) {
            const auto index = events[static_cast<std::size_t>(i)].data.u64;
            receive(index, load);
            flush(index);
        }
    }
    return {seconds_now() - start, std::move(micros_)};
}

void LoadClient::call_next(Client& client, const Load& load) {
    if (sent_ == load.calls) return;
    const auto number = sent_++;
    auto& out = body_;
    out.clear();
    out += line_start;
    out += fmt::format_int(number).c_str();
    out += R"(,"method":")";
    out += load.method;
    out += R"(","params":)";
    load.params(number, out);
    out += '}';
    if (is_web_) {
        append_client_frame(client.unsent, out);
    } else {
        client.unsent += out;
        client.unsent += '\n';
    }
    sent_at_[number] = seconds_now();
}

void LoadClient::flush(std::size_t index) {
    auto& client = clients_[index];
    if (client.unsent.empty()) return;
    const auto sent = send(client.socket.get(), client.unsent.data(), client.unsent.size(),
                           MSG_NOSIGNAL | MSG_DONTWAIT);
    must(sent >= 0 || errno == EAGAIN, "send");
    if (sent > 0) client.unsent.erase(0, static_cast<std::size_t>(sent));
    // What is left goes when an answer makes room: the daemon reads on as long as we do.
}

void LoadClient::receive(std::size_t index, const Load& load) {
    auto& client = clients_[index];
    const auto got = recv(client.socket.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    must(got > 0, "the daemon hung up");
    const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(got));
    is_web_ ? take_frames(client, bytes, load) : take_lines(client, bytes, load);
}

void LoadClient::take_frames(Client& client, std::string_view bytes, const Load& load) {
    const bool is_partial = !client.partial.empty();
    if (is_partial) {
        client.partial += bytes;
        bytes = client.partial;
    }
    while (const auto message = take_server_frame(bytes)) {
        take(*message, load);
        call_next(client, load);
    }
    client.partial = std::string(bytes);
}

void LoadClient::take_lines(Client& client, std::string_view bytes, const Load& load) {
    for (;;) {
        const auto end = bytes.find('\n');
        if (end == std::string_view::npos) break;
        if (client.partial.empty()) {
            take(bytes.substr(0, end), load);
        } else {
            client.partial += bytes.substr(0, end);
            take(client.partial, load);
            client.partial.clear();
        }
        bytes.remove_prefix(end + 1);
        call_next(client, load);
    }
    client.partial += bytes;
}

void LoadClient::take(std::string_view line, const Load& load) {
    std::size_t number = 0;
    if (!line.starts_with(line_start)) throw Failed(fmt::format("odd answer: {:.200}", line));
    const auto rest = line.substr(line_start.size());
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    const std::string_view body(stop, static_cast<std::size_t>(rest.data() + rest.size() - stop));
    if (error != std::errc{} || number >= sent_ || !body.starts_with(R"(,"result":)")) {
        throw Failed(fmt::format("{}: {:.300}", load.method, line));
    }
    micros_.push_back((seconds_now() - sent_at_[number]) * 1e6);
    if (load.answered) load.answered(number, line);
}

}  // namespace knell::bench
