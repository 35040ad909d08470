#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <sys/socket.h>

#include "activity/socket_table.hpp"
#include "platform/fd.hpp"

namespace knell {

namespace {

constexpr std::uint32_t all_states = 0xfff;
constexpr std::size_t answer_bytes = 64 * 1024;

struct DumpRequest {
    nlmsghdr header;
    inet_diag_req_v2 wanted;
};

bool ask(int socket, std::uint8_t family) {
    DumpRequest request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.wanted.sdiag_family = family;
    request.wanted.sdiag_protocol = IPPROTO_TCP;
    request.wanted.idiag_ext = 1U << (INET_DIAG_INFO - 1);  // for the bytes
    request.wanted.idiag_states = all_states;
    return send(socket, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request);
}

TcpEnd end_of(std::uint8_t family, const __be32* address, __be16 port) {
    TcpEnd end;
    end.port = ntohs(port);
    if (family == AF_INET6) {
        std::memcpy(end.address.data(), address, end.address.size());
    } else {
        end.address[10] = end.address[11] = 0xff;
        std::memcpy(end.address.data() + 12, address, sizeof *address);
    }
    return end;
}

/// `bytes`: the attributes that follow the message.
std::uint64_t traffic_in(const char* bytes, std::size_t size) {
    while (size >= sizeof(nlattr)) {
        nlattr attribute{};
        std::memcpy(&attribute, bytes, sizeof attribute);
        if (attribute.nla_len < sizeof attribute || attribute.nla_len > size) break;
        if (attribute.nla_type == INET_DIAG_INFO) {
            tcp_info info{};  // an older kernel gives less of it
            std::memcpy(&info, bytes + NLA_HDRLEN,
                        std::min<std::size_t>(attribute.nla_len - NLA_HDRLEN, sizeof info));
            return info.tcpi_bytes_acked + info.tcpi_bytes_received;
        }
        const auto step = std::min<std::size_t>(NLA_ALIGN(attribute.nla_len), size);
        bytes += step;
        size -= step;
    }
    return 0;
}

void add_message(SocketTable& table, const char* bytes, std::size_t size) {
    inet_diag_msg message{};
    if (size < sizeof message) return;
    std::memcpy(&message, bytes, sizeof message);
    constexpr int listening = 10;  // whose queues hold connections
    TcpEntry entry;
    entry.local = end_of(message.idiag_family, message.id.idiag_src, message.id.idiag_sport);
    entry.remote = end_of(message.idiag_family, message.id.idiag_dst, message.id.idiag_dport);
    entry.state = message.idiag_state;
    entry.inode = message.idiag_inode;
    entry.has_queue =
        entry.state != listening && (message.idiag_rqueue > 0 || message.idiag_wqueue > 0);
    entry.bytes = traffic_in(bytes + sizeof message, size - sizeof message);
    table.add(entry);
}

enum class Answer : std::uint8_t { more, done, refused };

Answer take_answer(SocketTable& table, const char* bytes, std::size_t size) {
    while (size >= sizeof(nlmsghdr)) {
        nlmsghdr header{};
        std::memcpy(&header, bytes, sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > size) return Answer::refused;
        if (header.nlmsg_type == NLMSG_DONE) return Answer::done;
        if (header.nlmsg_type == NLMSG_ERROR) return Answer::refused;
        add_message(table, bytes + NLMSG_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN);
        const auto step = std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), size);
        bytes += step;
        size -= step;
    }
    return Answer::more;
}

bool read_family(SocketTable& table, int socket, std::uint8_t family) {
    if (!ask(socket, family)) return false;
    std::vector<char> buffer(answer_bytes);
    for (;;) {
        // A dump is made while it is read: this never waits for anybody else.
        const auto got = recv(socket, buffer.data(), buffer.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        const auto answer = take_answer(table, buffer.data(), static_cast<std::size_t>(got));
        if (answer != Answer::more) return answer == Answer::done;
    }
}

}  // namespace

bool read_sock_diag(SocketTable& table) {
    const Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (!socket) return false;
    return read_family(table, socket.get(), AF_INET) && read_family(table, socket.get(), AF_INET6);
}

}  // namespace knell
