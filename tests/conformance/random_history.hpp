#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace knell::testing {

/// Batches such as the engine could decide, one after the other, and questions about what they
/// leave.  The same seed makes the same ones.
class RandomHistory {
  public:
    explicit RandomHistory(std::uint32_t seed) : random_(seed) {}

    /// The next batch, which every store must take.
    Batch next();
    /// A batch that no store may take: something in it does not follow from those so far.  The
    /// history stays where it is.
    Batch impossible();

    struct Age {
        LogAge age;
        std::optional<LogMark> mark;
        Seq forget_until = 0;
    };
    Age next_age();
    Seq somewhere_in_the_log() { return below(newest_ + 2); }

    SessionQuery session_query();
    EndedQuery ended_query();
    /// Of a session, or the beginning of one, or nobody's.
    SessionId some_id();
    EventQuery event_query();
    PendingQuery letter_query();
    MessageQuery message_query();
    ProcessQuery process_query();

    /// 0 to `bound` - 1.
    std::int64_t below(std::int64_t bound);
    bool one_in(std::int64_t times) { return below(times) == 0; }

  private:
    struct Row {
        Generation generation = 1;
        bool open = true;
        bool by_machine = false;
        bool has_title = false;
        std::int64_t messages = 0;
        std::optional<Reason> ended;

        Fold fold() const {
            return fold_of({.by_machine = by_machine,
                            .nothing_said = messages == 0 && !has_title,
                            .ended = ended});
        }
    };

    struct Process {
        ProcessId id;
        Ordinal session = 0;  // 0: one that is not on record
        ProcessIdentity identity;
        bool running = true;
    };

    void open_one(Batch& batch);
    void change_one(Batch& batch);
    void reopen(Ordinal ordinal, Row& row, Batch& batch);
    void end(Ordinal ordinal, Row& row, Batch& batch);
    void append(Ordinal ordinal, Row& row, Batch& batch);
    void copy(Ordinal ordinal, Row& row, Batch& batch);
    void hold_reset(Ordinal ordinal, const Row& row, Batch& batch);
    void change_delivery(Batch& batch);
    void change_processes(Batch& batch);
    void open_process(Batch& batch);
    void change_process(std::int64_t number, Batch& batch);
    void tell_of(std::int64_t number, EventType type, Batch& batch);
    /// Adds what does not fit the processes so far; there is one at least.
    void spoil_processes(Batch& batch);
    Event& tell(Batch& batch, EventType type, Ordinal ordinal, const Row& row);

    std::string text();
    std::string word();
    WallTime time();
    std::optional<WallTime> maybe_time();
    SteadyTime listened() { return SteadyTime{std::chrono::milliseconds{below(100'000)}}; }
    Owner owner();
    End an_end(Reason reason);
    std::vector<Leftover> leftovers();
    std::vector<Blocker> blockers();
    ActivityFacts activity();
    ProcessExit an_exit();
    BackgroundProcess a_process(std::int64_t number);
    template <typename Changed>
    Changed on_process(std::int64_t number) const;
    template <typename Changed>
    Changed on(Ordinal ordinal, const Row& row) const;
    Ordinal any() { return 1 + below(static_cast<std::int64_t>(rows_.size())); }
    std::size_t limit() { return static_cast<std::size_t>(1 + below(one_in(3) ? 100 : 5)); }
    /// A page with room for nothing would lead nowhere, and nobody asks for one.
    std::size_t bytes() { return one_in(3) ? static_cast<std::size_t>(1 + below(5000)) : SIZE_MAX; }

    std::mt19937 random_;
    std::map<Ordinal, Row> rows_;
    std::map<std::int64_t, Process> processes_;  // by number
    Seq newest_ = 0;
    std::int64_t began_ = 0;
    std::int64_t age_ = 0;
};

}  // namespace knell::testing
