#include <iterator>

#include <fmt/format.h>

#include "contender.hpp"
#include "must.hpp"
#include "redis_server.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t pipelined = 1'000;
constexpr int an_hour_ms = 3'600'000;

class Redis final : public LeaseContender {
  public:
    Redis(const Lab& lab, std::size_t others)
        : LeaseContender(patience_s(lab)),
          server_(lab),
          writer_(redis_port),
          ends_(connect_subscriber(), "due:") {
        set("live:", 0, others, an_hour_ms);
    }

  protected:
    std::vector<double> grant(std::size_t first, std::size_t count) override {
        return set("due:", first, count, ttl_s * 1000);
    }
    EndStream& ends() override { return ends_; }

  private:
    static Fd connect_subscriber() {
        auto socket = connect_loopback(redis_port);
        constexpr std::string_view line = "SUBSCRIBE __keyevent@0__:expired\r\n";
        must(write(socket.get(), line.data(), line.size()) == ssize_t{line.size()}, "subscribing");
        return socket;
    }

    std::vector<double> set(std::string_view prefix, std::size_t first, std::size_t count,
                            int ttl_ms) {
        std::vector<double> at;
        std::string commands;
        while (at.size() < count) {
            const auto share = std::min(pipelined, count - at.size());
            commands.clear();
            for (std::size_t i = 0; i < share; ++i) {
                fmt::format_to(std::back_inserter(commands), "SET {}{} x PX {}\r\n", prefix,
                               EndStream::digits_of(first + at.size() + i), ttl_ms);
            }
            writer_.send(commands);
            for (std::size_t i = 0; i < share; ++i) {
                if (const auto answer = writer_.read_line(); answer != "+OK") {
                    throw Failed("Redis: " + answer);
                }
                at.push_back(seconds_now());
            }
        }
        return at;
    }

    const RedisServer server_;
    LoopbackStream writer_;
    EndStream ends_;
};

}  // namespace

std::unique_ptr<Contender> redis_with_notifications(const Lab& lab, std::size_t others) {
    return std::make_unique<Redis>(lab, others);
}

}  // namespace knell::bench
