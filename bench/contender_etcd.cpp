#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <iterator>

#include <fmt/format.h>

#include "contender.hpp"
#include "must.hpp"
#include "peer_process.hpp"

namespace knell::bench {

namespace {

constexpr int etcd_port = 12379;
constexpr int etcd_peer_port = 12380;
constexpr std::size_t connections = 64;  // etcd syncs once for all that wait
constexpr std::size_t puts_a_transaction = 128;
constexpr std::size_t granted_together = 10 * puts_a_transaction;
constexpr std::size_t first_live_lease = 100'000'000;  // above all that go
constexpr int an_hour_s = 3600;

std::string url(int port) {
    return fmt::format("http://127.0.0.1:{}", port);
}

std::string request(std::string_view path, std::string_view body) {
    return fmt::format("POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n{}", path,
                       body.size(), body);
}

std::size_t parsed(std::string_view digits, int base) {
    std::size_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    return value;
}

std::string read_chunks(LoopbackStream& stream) {
    std::string body;
    for (;;) {
        const auto size = parsed(stream.read_line(), 16);
        body += stream.read_bytes(size);
        stream.read_line();  // the end of the chunk
        if (size == 0) return body;
    }
}

/// Reads an answer: short ones have a Content-Length, longer ones come in chunks.
void read_answer(LoopbackStream& stream) {
    constexpr std::string_view length_name = "content-length: ";
    const auto status = stream.read_line();
    std::size_t length = 0;
    bool in_chunks = false;
    for (auto line = stream.read_line(); !line.empty(); line = stream.read_line()) {
        std::ranges::transform(line, line.begin(),
                               [](char c) { return static_cast<char>(std::tolower(c)); });
        in_chunks = in_chunks || line == "transfer-encoding: chunked";
        if (line.starts_with(length_name))
            length = parsed(std::string_view(line).substr(length_name.size()), 10);
    }
    const auto body = in_chunks ? read_chunks(stream) : stream.read_bytes(length);
    if (status.find(" 200 ") == std::string::npos) throw Failed("etcd: " + status + ": " + body);
}

/// Keys are base64 on the wire; a letter and seven digits happen to be some.
std::string key(char kind, std::size_t number) {
    return kind + EndStream::digits_of(number);
}

/// One node, over its JSON gateway.
class Etcd final : public LeaseContender {
  public:
    Etcd(const Lab& lab, std::size_t others, bool one_lease)
        : LeaseContender(patience_s(lab)),
          one_lease_(one_lease),
          home_(lab.new_home()),
          server_({"etcd", "--data-dir", home_->path() + "/etcd", "--listen-client-urls",
                   url(etcd_port), "--advertise-client-urls", url(etcd_port), "--listen-peer-urls",
                   url(etcd_peer_port), "--initial-advertise-peer-urls", url(etcd_peer_port),
                   "--initial-cluster", "default=" + url(etcd_peer_port)},
                  home_->path() + "/etcd.log"),
          ends_(connect_watcher(), "\"DELETE\",\"kv\":{\"key\":\"d",
                EndStream::Framing::http_chunks) {
        for (std::size_t i = 0; i < connections; ++i) writers_.emplace_back(etcd_port);
        grant_leases(first_live_lease, others, an_hour_s);
        put('l', 0, others, [](std::size_t i) { return first_live_lease + i; });
    }

  protected:
    std::vector<double> grant(std::size_t first, std::size_t count) override {
        // Zero is no lease, so the first is one.
        if (one_lease_) {
            const std::vector<double> at(count, grant_leases(first + 1, 1, ttl_s).front());
            put('d', first, count, [&](std::size_t) { return first + 1; });
            return at;
        }
        std::vector<double> at;
        // Some at a time: all at once, the first lease could run out before its key is there.
        while (at.size() < count) {
            const auto from = first + at.size();
            const auto share = std::min(granted_together, count - at.size());
            std::ranges::copy(grant_leases(from + 1, share, ttl_s), std::back_inserter(at));
            put('d', from, share, [&](std::size_t i) { return from + 1 + i; });
            ends_.read_for(0);
        }
        return at;
    }
    EndStream& ends() override { return ends_; }

  private:
    static Fd connect_watcher() {
        // Every key, deletions only.
        constexpr auto watch =
            R"({"create_request":{"key":"AA==","range_end":"AA==","filters":["NOPUT"]}})";
        auto socket = connect_loopback(etcd_port);
        const auto text = request("/v3/watch", watch);
        must(write(socket.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()),
             "watching");
        return socket;
    }

    /// `count` requests, one on each connection at a time; gives when each was answered.
    std::vector<double> post(std::string_view path, std::size_t count,
                             const std::function<std::string(std::size_t)>& body) {
        std::vector<double> at;
        while (at.size() < count) {
            const auto share = std::min(connections, count - at.size());
            const auto first = at.size();
            for (std::size_t i = 0; i < share; ++i) {
                writers_[i].send(request(path, body(first + i)));
            }
            for (std::size_t i = 0; i < share; ++i) {
                read_answer(writers_[i]);
                at.push_back(seconds_now());
            }
        }
        return at;
    }

    std::vector<double> grant_leases(std::size_t first, std::size_t count, int ttl) {
        return post("/v3/lease/grant", count, [&](std::size_t i) {
            return fmt::format(R"({{"TTL":"{}","ID":"{}"}})", ttl, first + i);
        });
    }

    /// A key for each of `count`, with the lease that `lease_of` says.
    template <typename LeaseOf>
    void put(char kind, std::size_t first, std::size_t count, LeaseOf lease_of) {
        const auto transactions = (count + puts_a_transaction - 1) / puts_a_transaction;
        post("/v3/kv/txn", transactions, [&](std::size_t transaction) {
            std::string body = R"({"success":[)";
            const auto from = transaction * puts_a_transaction;
            const auto to = std::min(from + puts_a_transaction, count);
            for (auto i = from; i < to; ++i) {
                body +=
                    fmt::format(R"({}{{"request_put":{{"key":"{}","value":"eA==","lease":"{}"}}}})",
                                i == from ? "" : ",", key(kind, first + i), lease_of(i));
            }
            return body + "]}";
        });
    }

    const bool one_lease_;
    const std::unique_ptr<TemporaryDirectory> home_;
    const PeerProcess server_;
    EndStream ends_;
    std::vector<LoopbackStream> writers_;
};

}  // namespace

std::unique_ptr<Contender> etcd_with_watch(const Lab& lab, std::size_t others) {
    return std::make_unique<Etcd>(lab, others, /*one_lease=*/false);
}

std::unique_ptr<Contender> etcd_with_one_lease(const Lab& lab, std::size_t others) {
    return std::make_unique<Etcd>(lab, others, /*one_lease=*/true);
}

}  // namespace knell::bench
