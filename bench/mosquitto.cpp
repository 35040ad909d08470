#include "mosquitto.hpp"

#include <array>
#include <fstream>

#include <sys/socket.h>
#include <unistd.h>

#include "must.hpp"

namespace knell::bench {

namespace {

constexpr char connect_packet = '\x10';
constexpr char publish_packet = '\x30';
constexpr char subscribe_packet = '\x82';
constexpr char clean_session_with_will = '\x06';

std::string with_length(std::string_view text) {
    std::string out;
    out += static_cast<char>(text.size() >> 8U);
    out += static_cast<char>(text.size());
    out += text;
    return out;
}

std::string packet(char type, std::string_view body) {
    std::string out(1, type);
    auto size = body.size();
    do {
        const auto more = size >= 128 ? 128U : 0U;
        out += static_cast<char>(size % 128 + more);
        size /= 128;
    } while (size > 0);
    out += body;
    return out;
}

void send_packet(const Fd& client, char type, std::string_view body) {
    const auto bytes = packet(type, body);
    must(send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(bytes.size()),
         "sending to mosquitto");
}

/// An acknowledgement of that many bytes whose last one is 0.
void read_acknowledgement(const Fd& client, std::size_t size) {
    std::array<char, 8> bytes{};
    must(recv(client.get(), bytes.data(), size, MSG_WAITALL) == static_cast<ssize_t>(size),
         "mosquitto hung up");
    if (bytes.at(size - 1) != 0) throw Failed("mosquitto refused");
}

}  // namespace

Mosquitto::Mosquitto(const Lab& lab) : home_(lab.new_home()) {
    const auto config = home_->path() + "/mosquitto.conf";
    std::ofstream out(config);
    out << "listener " << mosquitto_port << " 127.0.0.1\n"
        << "allow_anonymous true\npersistence false\nmax_connections -1\n"
        << "set_tcp_nodelay true\nlog_type error\n";
    // Otherwise root's files would have to be read by a user of its own.
    if (geteuid() == 0) out << "user root\n";
    out.close();
    must(static_cast<bool>(out), "writing " + config);
    process_ =
        std::make_unique<PeerProcess>(std::vector<std::string>{"/usr/sbin/mosquitto", "-c", config},
                                      home_->path() + "/mosquitto.log");
    connect_loopback(mosquitto_port);  // waits until it listens
}

Fd connect_with_will(std::string_view name, int keep_alive_s) {
    auto client = connect_loopback(mosquitto_port);
    std::string body = with_length("MQTT");
    body += '\x04';
    body += clean_session_with_will;
    body += static_cast<char>(keep_alive_s >> 8);
    body += static_cast<char>(keep_alive_s);
    body += with_length(name);
    body += with_length("will/" + std::string(name));
    body += with_length("gone");
    send_packet(client, connect_packet, body);
    read_acknowledgement(client, 4);
    return client;
}

void subscribe_to(const Fd& client, std::string_view filter) {
    std::string body("\x00\x01", 2);
    body += with_length(filter);
    body += '\0';
    send_packet(client, subscribe_packet, body);
    read_acknowledgement(client, 5);
}

void publish(const Fd& client, std::string_view topic, std::string_view payload) {
    send_packet(client, publish_packet, with_length(topic) + std::string(payload));
}

}  // namespace knell::bench
