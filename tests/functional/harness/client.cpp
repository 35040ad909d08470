#include "functional/harness/client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "client/socket.hpp"
#include "functional/harness/waiting.hpp"
#include "testing/socket_send.hpp"

namespace knell::functional {

namespace {

const Json* step(const Json& value, std::string_view name) {
    if (const auto* object = value.if_object()) return object->if_contains(name);
    const auto* list = value.if_array();
    std::size_t place = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), place);
    if (list == nullptr || parsed.ec != std::errc{} || place >= list->size()) return nullptr;
    return &(*list)[place];
}

}  // namespace

const Json& at(const Json& value, std::string_view path) {
    static const Json null;
    const auto* found = &value;
    while (found != nullptr && !path.empty()) {
        const auto name = path.substr(0, path.find('.'));
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        found = step(*found, name);
    }
    return found == nullptr ? null : *found;
}

std::string text(const Json& value, std::string_view path) {
    const auto& found = at(value, path);
    return found.is_string() ? std::string(std::string_view(found.get_string())) : std::string{};
}

std::int64_t number(const Json& value, std::string_view path) {
    const auto& found = at(value, path);
    return found.is_number() ? found.to_number<std::int64_t>() : -1;
}

const JsonArray& array(const Json& value, std::string_view path) {
    static const JsonArray none;
    const auto* found = at(value, path).if_array();
    return found == nullptr ? none : *found;
}

Json parse(std::string_view text) {
    auto parsed = wire::parse_json(text);
    if (!parsed) throw std::runtime_error(fmt::format("{}: {}", parsed.error().message, text));
    return std::move(*parsed);
}

Client::Client(const std::string& socket) {
    auto fd = client::connect_socket(socket, client::Deadline{wait_max});
    if (!fd) throw std::runtime_error(fd.error().message);
    fd_ = std::move(*fd);
}

bool Client::send(std::string_view bytes) {
    return testing::send_all(fd_.get(), bytes,
                             [this] { wait_for(fd_.get(), POLLOUT, "the daemon to read"); });
}

std::size_t Client::send_what_fits(std::string_view bytes) {
    return testing::send_what_fits(fd_.get(), bytes);
}

void Client::finish_sending() {
    ::shutdown(fd_.get(), SHUT_WR);
}

std::optional<std::string> Client::read_line() {
    std::size_t searched = 0;
    for (;;) {
        if (const auto end = received_.find('\n', searched); end != std::string::npos) {
            auto line = received_.substr(0, end);
            received_.erase(0, end + 1);
            return line;
        }
        searched = received_.size();
        wait_for(fd_.get(), POLLIN, "the daemon's answer");
        std::array<char, 65'536> chunk{};
        const auto count = ::recv(fd_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
        if (count > 0) {
            received_.append(chunk.data(), static_cast<std::size_t>(count));
        } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
            return std::nullopt;
        }
    }
}

Answer Client::read_answer() {
    const auto line = read_line();
    if (!line) throw std::runtime_error("the daemon closed the connection without an answer");
    return {parse(*line)};
}

std::optional<Answer> Client::try_call(std::string_view method, std::string_view params) {
    const auto id = ++last_id_;
    auto request =
        fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method, params);
    // Tests break long literals; a newline would end the call.
    std::ranges::replace(request, '\n', ' ');
    request += '\n';
    if (!send(request)) return std::nullopt;
    const auto line = read_line();
    if (!line) return std::nullopt;
    Answer answer{parse(*line)};
    if (number(answer.whole, "id") != id) throw std::runtime_error("not our answer: " + *line);
    return answer;
}

Answer Client::call(std::string_view method, std::string_view params) {
    auto answer = try_call(method, params);
    if (!answer) throw std::runtime_error("the daemon closed the connection without an answer");
    return std::move(*answer);
}

Json Client::must(std::string_view method, std::string_view params) {
    auto answer = call(method, params);
    if (!answer.ok()) {
        throw std::runtime_error(fmt::format("{} {}: {}", method, params, answer.message()));
    }
    return answer.result();
}

Answer Client::ask(std::string_view line) {
    if (!send(std::string(line) + "\n")) throw std::runtime_error("the daemon has hung up");
    return read_answer();
}

}  // namespace knell::functional
