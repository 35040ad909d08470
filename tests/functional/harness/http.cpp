#include "functional/harness/http.hpp"

#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include "functional/harness/waiting.hpp"

namespace knell::functional {

namespace {

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

}  // namespace

HttpDaemon::HttpDaemon(const TempHome& home, const DaemonLimits& limits) : home_(home) {
    start("127.0.0.1:0", limits);
    address_ = first_line(read_file(home.file("http.addr")));
    token_ = first_line(home.knell({"token", "show"}).out);
}

/// Reads its log until it listens at its socket; by then it serves HTTP.
void HttpDaemon::start(const std::string& listen, const DaemonLimits& limits) {
    Pipe pipe;
    ::fcntl(pipe.writing.get(), F_SETPIPE_SZ, 1 << 20);  // room for what nobody reads meanwhile
    ::fcntl(pipe.reading.get(), F_SETFL, O_NONBLOCK);
    auto spawn = home_.command({"up", "--http", listen});
    spawn.err = pipe.writing.get();
    spawn.descriptors_max = limits.descriptors_max;
    process_.reset();
    process_.emplace(spawn);
    pipe.writing.reset();
    log_pipe_ = std::move(pipe.reading);
    log_.clear();
    while (!log_.contains("listens at")) {
        wait_for(log_pipe_.get(), POLLIN, "a daemon that serves HTTP");
        if (!read_available(log_pipe_.get(), log_)) throw std::runtime_error(log_);
    }
}

void HttpDaemon::restart() {
    process_->signal(SIGKILL);
    process_->wait();
    start(address_, {});
}

void HttpDaemon::listen() {
    constexpr int moment_ms = 20;
    pollfd watched{.fd = log_pipe_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, moment_ms) > 0) read_available(log_pipe_.get(), log_);
}

const std::string& HttpDaemon::log() {
    read_available(log_pipe_.get(), log_);
    return log_;
}

std::string HttpDaemon::read_token() const {
    return first_line(home_.knell({"token", "show", "--read"}).out);
}

std::vector<std::string> HttpDaemon::with_token(std::string_view token) {
    return {"-H", fmt::format("Authorization: Bearer {}", token)};
}

HttpDaemon::Answer HttpDaemon::curl(std::string_view path,
                                    std::vector<std::string> arguments) const {
    Spawn spawn;
    spawn.argv = {"curl", "--silent", "--show-error", "--include", "--max-time", "20", "--http1.1"};
    spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
    spawn.argv.push_back(url(path));
    const auto outcome = run_command(spawn);
    Answer answer{.body = outcome.out};
    // What asks for a body to be sent is not the answer.
    while (answer.body.starts_with("HTTP/1.1 100 ")) {
        answer.body.erase(0, answer.body.find("\r\n\r\n") + 4);
    }
    const auto end = answer.body.find("\r\n\r\n");
    if (end == std::string::npos) return {.body = outcome.err + answer.body};
    answer.head = answer.body.substr(0, end + 2);
    answer.body.erase(0, end + 4);
    answer.status = std::stoi(answer.head.substr(answer.head.find(' ') + 1));
    return answer;
}

HttpDaemon::Answer HttpDaemon::get(std::string_view path,
                                   std::vector<std::string> arguments) const {
    for (const auto& argument : with_token(token_)) arguments.push_back(argument);
    return curl(path, std::move(arguments));
}

HttpDaemon::Answer HttpDaemon::rpc(std::string_view method, std::string_view params) const {
    return get("/v1/rpc",
               {"--data", fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})",
                                      method, params)});
}

}  // namespace knell::functional
