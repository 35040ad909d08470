#include "contender.hpp"
#include "must.hpp"
#include "reaper_store.hpp"

namespace knell::bench {

namespace {

class SqliteReaper final : public Contender {
  public:
    SqliteReaper(const Lab& lab, std::size_t others) : store_(lab, others) {}

    EndsHeard lose_together(std::size_t count) override {
        store_.open(count, now_);
        now_ += static_cast<std::int64_t>(reaper_stale_s) + 1;
        int ended = 0;
        const auto sweep_s = seconds_of([&] { ended = store_.sweep(now_); });
        if (ended != static_cast<int>(count)) throw Failed("the reaper missed an end");
        EndsHeard result;
        for (std::size_t i = 0; i < count; ++i) {
            const auto part = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
            result.seconds.push_back(reaper_stale_s + reaper_every_s * part + sweep_s);
        }
        return result;
    }

    EndsHeard lose_singly(std::size_t count) override { return lose_together(count); }

  private:
    ReaperStore store_;
    std::int64_t now_ = 1;
};

}  // namespace

std::unique_ptr<Contender> sqlite_reaper(const Lab& lab, std::size_t others) {
    return std::make_unique<SqliteReaper>(lab, others);
}

}  // namespace knell::bench
