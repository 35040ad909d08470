#include <iterator>

#include <fmt/format.h>

#include "calls.hpp"
#include "contender.hpp"
#include "daemon_under_test.hpp"
#include "follower.hpp"
#include "must.hpp"
#include "sample_store.hpp"
#include "victim.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t processes_max = 1'000;
constexpr double patience_for_death_s = 30;
constexpr std::size_t window = 16;

/// A home with `others` live sessions in its store.
std::unique_ptr<TemporaryDirectory> home_with(const Lab& lab, std::size_t others) {
    auto home = lab.new_home();
    if (others > 0) {
        make_store(home->path(), plain_session());
        fill_store_with_leases(home->path(), others);
    }
    return home;
}

/// A daemon, and somebody who has subscribed to ends.
struct Knell {
    Knell(const Lab& lab, std::size_t others)
        : home(home_with(lab, others)),
          daemon(lab.options().knell, home->path()),
          client(daemon.socket(), client_count),
          ends(subscribe(daemon.socket(), R"({"types":["session:end"]})"),
               R"("session_id":"gone-)") {}

    /// Opens `count` sessions numbered from `first`; `owner` is the JSON of owner `number`.  Gives
    /// when each was acknowledged.
    template <typename Owner>
    std::vector<double> open(std::size_t first, std::size_t count, Owner owner) {
        std::vector<double> at(count);
        client.run({.method = "session.create",
                    .calls = count,
                    .window = window,
                    .params =
                        [&](std::size_t number, std::string& out) {
                            fmt::format_to(std::back_inserter(out),
                                           R"({{"id":"gone-{}","source":"bench","owner":{}}})",
                                           EndStream::digits_of(first + number), owner(number));
                        },
                    .answered = [&](std::size_t number,
                                    std::string_view) { at[number] = seconds_now(); }});
        return at;
    }

    const std::unique_ptr<TemporaryDirectory> home;
    const DaemonUnderTest daemon;
    LoadClient client;
    EndStream ends;
};

class ByPidfd final : public Contender {
  public:
    ByPidfd(const Lab& lab, std::size_t others) : knell_(lab, others) {}

    EndsHeard lose_together(std::size_t count) override {
        const auto processes = count <= processes_max ? count : 1;
        std::vector<std::unique_ptr<Victim>> victims;
        for (std::size_t i = 0; i < processes; ++i) victims.push_back(std::make_unique<Victim>());
        knell_.open(next_, count, [&](std::size_t number) {
            return fmt::format(R"({{"pid":{}}})", victims[number % processes]->pid());
        });
        knell_.ends.expect(next_, count);
        next_ += count;
        std::vector<double> gone;
        for (const auto& victim : victims) {
            gone.push_back(seconds_now());
            victim->kill();
        }
        knell_.ends.read_for(patience_for_death_s);
        if (!knell_.ends.is_complete()) throw Failed("an owner was killed and nobody heard of it");
        EndsHeard result;
        for (std::size_t i = 0; i < count; ++i) {
            result.seconds.push_back(knell_.ends.heard_at()[i] - gone[i % processes]);
        }
        return result;
    }

    EndsHeard lose_singly(std::size_t count) override {
        EndsHeard result;
        while (result.seconds.size() < count) {
            result.seconds.push_back(lose_together(1).seconds.front());
        }
        return result;
    }

  private:
    Knell knell_;
    std::size_t next_ = 0;
};

class ByLease final : public LeaseContender {
  public:
    ByLease(const Lab& lab, std::size_t others)
        : LeaseContender(patience_s(lab)), knell_(lab, others) {}

  protected:
    std::vector<double> grant(std::size_t first, std::size_t count) override {
        return knell_.open(first, count, [](std::size_t) {
            return fmt::format(R"({{"lease_ttl_s":{}}})", ttl_s);
        });
    }
    EndStream& ends() override { return knell_.ends; }

  private:
    Knell knell_;
};

}  // namespace

std::unique_ptr<Contender> knell_by_pidfd(const Lab& lab, std::size_t others) {
    return std::make_unique<ByPidfd>(lab, others);
}

std::unique_ptr<Contender> knell_by_lease(const Lab& lab, std::size_t others) {
    return std::make_unique<ByLease>(lab, others);
}

}  // namespace knell::bench
