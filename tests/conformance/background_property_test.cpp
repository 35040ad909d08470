// Starts, exits, activity, vouches, ends and refused commits, in any order: memory and store agree
// on what runs, and each session is in the background exactly while something counts.

#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "stores.hpp"
#include "testing/failing_store.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

constexpr int ids = 4;
constexpr int pids = 8;
constexpr std::size_t per_session = 3;
constexpr std::size_t node = 6;

int pick(int from, int below) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, below));
}

class World {
  public:
    World() { reader_ = std::move(*store_.open_reader()); }

    void act() {
        std::vector<Input> inputs;
        for (auto words = pick(1, 4); words > 0; --words) inputs.push_back(any_input());
        const bool fails = pick(0, 5) == 0;
        if (fails) store_.refused = {FailingStore::Call::commit};
        const auto step = journal_->step(std::move(inputs), now_);
        store_.refused = {};
        if (!step.failed) follow(step);
        if (pick(0, 3) == 0) pass();
        if (pick(0, 12) == 0) journal_ = make_journal();
        settle_all();
        check();
    }

    void check() {
        std::map<std::string, BackgroundProcess> running;
        RC_ASSERT(store_.for_each_running_process(
            [&](const BackgroundProcess& row) { running.emplace(row.id.text(), row); }));
        const auto& table = journal_->state.processes();
        RC_ASSERT(table.size() == running.size());
        RC_ASSERT(table.size() <= node);
        std::map<std::string, std::size_t> counting;
        table.for_each([&](const RunningProcess& process) {
            const auto found = running.find(process.row.id.text());
            RC_ASSERT(found != running.end());
            RC_ASSERT(found->second == process.row);
            RC_ASSERT(table.find(process.row.process) == &process);
            RC_ASSERT(process.counts() == counts_as_work(process.row, now_.wall));
            if (process.counts()) ++counting[process.row.session_id.text()];
        });
        for (const auto& session : read_record(*reader_)->sessions) {
            const auto* live = journal_->state.find(session.id);
            RC_ASSERT((live != nullptr) == !session.end.has_value());
            RC_ASSERT(table.counting_of(session.id) == counting[session.id.text()]);
            const bool is_kept = !session.end && counting[session.id.text()] > 0;
            RC_ASSERT(session.background_since.has_value() == is_kept);
            if (live != nullptr) RC_ASSERT(live->background_since() == session.background_since);
            if (live != nullptr) RC_ASSERT(live->status() == status_of(session));
            if (live != nullptr && live->is_hosted() && is_kept) {
                RC_ASSERT(live->deadline() == LiveSession::no_deadline);
            }
        }
    }

    void check_events() {
        RC_ASSERT(broken_promises(*reader_) == std::vector<std::string>{});
        std::map<std::string, int> starts;
        std::map<std::string, int> exits;
        for (const auto& event : read_record(*reader_)->events) {
            if (!event.process) continue;
            const auto number = std::to_string(event.process->number);
            if (event.type == EventType::process_start) RC_ASSERT(++starts[number] == 1);
            if (event.type != EventType::process_exit) continue;
            RC_ASSERT(starts[number] == 1);
            RC_ASSERT(++exits[number] == 1);
            const auto& exit = *event.process->exit;
            RC_ASSERT(event.process->started_at <= exit.after);
            RC_ASSERT(exit.after <= exit.at);
            RC_ASSERT(exit.at <= exit.before);
        }
        RC_ASSERT(starts.size() == exits.size() + journal_->state.processes().size());
    }

  private:
    static std::string any_id() { return std::to_string(pick(0, ids)); }
    static int any_pid() { return pick(1, pids + 1); }
    /// Whoever has that pid now: its start ticks are never used twice.
    ProcessIdentity identity(int pid) {
        auto process = process_owner(pid).process;
        process.start_ticks = 100 + ticks_[pid];
        return process;
    }
    ProcessId id_of(int pid) { return process_id_of(identity(pid)); }

    Owner any_owner() {
        switch (pick(0, 3)) {
            case 0:
                return lease_owner(std::chrono::seconds{pick(5, 60)});
            case 1:
                return hosted_owner(std::chrono::seconds{pick(5, 60)});
            default:
                return process_owner(pick(900, 903));
        }
    }
    static LeftoversPolicy any_policy() { return static_cast<LeftoversPolicy>(pick(0, 3)); }
    Leftover any_leftover() {
        auto left = leftover(1, *rc::gen::element(Fate::left, Fate::gone, Fate::shared));
        left.process = identity(any_pid());
        return left;
    }

    Input any_input() {
        switch (pick(0, 14)) {
            case 0:
            case 1: {
                auto command = create(any_id(), any_owner());
                if (command.draft.owner.kind == OwnerKind::process) {
                    command.draft.leftovers = any_policy();
                }
                return command;
            }
            case 2:
            case 3: {
                auto command = resume(any_id(), pick(0, 2) == 1);
                command.owner = any_owner();
                return command;
            }
            case 4: {
                auto command = close(any_id());
                if (pick(0, 2) == 1) command.leftovers = {any_leftover()};
                return command;
            }
            case 5: {
                const auto process = process_owner(pick(900, 903)).process;
                return OwnerGone{process,
                                 lost(),
                                 {{SessionId(any_id()), {any_leftover()}}},
                                 /*searched=*/true};
            }
            case 6:
            case 7:
            case 8: {
                auto command = record_process(
                    any_id(), 1,
                    pick(0, 2) == 1 ? ProcessOrigin::started : ProcessOrigin::registered);
                command.draft.process = identity(any_pid());
                command.draft.id = process_id_of(command.draft.process);
                command.per_session_max = per_session;
                command.node_max = node;
                return command;
            }
            case 9:
                return VouchProcess{
                    id_of(any_pid()),
                    pick(0, 3) == 0 ? std::nullopt
                                    : std::optional(now_.wall + std::chrono::seconds{pick(1, 60)})};
            case 10:
                return StopProcess{id_of(any_pid()), "the test"};
            case 11:
            case 12:
                return ProcessActive{id_of(any_pid()),
                                     {static_cast<ProcessActivity>(pick(0, 4)), now_.wall, "seen"},
                                     pick(0, 2) == 1};
            default:
                return ProcessGone{identity(any_pid()),
                                   *rc::gen::element(exited(0), signaled(9), lost()),
                                   pick(0, 5) == 0 ? "no such program" : ""};
        }
    }

    /// As the daemon does: stopping goes on for a while, and is then settled.
    void follow(const Journal::Step& step) {
        for (const auto& effect : step.effects) {
            if (const auto* search = std::get_if<FindLeftovers>(&effect)) {
                later_.emplace_back(
                    OwnerGone{search->process, search->departure, {}, /*searched=*/true});
            }
            if (const auto* order = std::get_if<StopLeftovers>(&effect)) {
                auto settled = order->leftovers;
                for (auto& one : settled) {
                    if (one.fate == Fate::stopping) {
                        one.fate = *rc::gen::element(Fate::left, Fate::killed);
                    }
                }
                later_.emplace_back(SettleLeftovers{order->session_id, order->generation, settled});
            }
            if (const auto* unwatch = std::get_if<UnwatchProcess>(&effect)) {
                // Its pid may be another's from now on.
                ++ticks_[unwatch->process.pid];
            }
        }
    }
    void settle_all() {
        if (pick(0, 2) == 0) return;
        const auto step = journal_->step(std::exchange(later_, {}), now_);
        RC_ASSERT(!step.failed);
        follow(step);
    }
    void pass() {
        const auto time = std::chrono::milliseconds(pick(1, 30'000));
        now_.steady += time;
        now_.boot += time;
        now_.wall += time;
        // Nobody sets the clock back: a vouch that is over does not come back.
        if (pick(0, 5) == 0) now_.wall += std::chrono::seconds(pick(1, 100));
        follow(journal_->tick(now_));
    }

    Now now_ = at(0);
    FailingStore store_;
    std::unique_ptr<JournalOnStore> journal_ = make_journal();
    std::unique_ptr<Reader> reader_;
    std::map<int, std::uint64_t> ticks_;
    std::vector<Input> later_;

    std::unique_ptr<JournalOnStore> make_journal() {
        auto journal = std::make_unique<JournalOnStore>(store_, now_);
        journal->state.set_processes_max(node);
        return journal;
    }
};

RC_GTEST_PROP(AnyBackground, IsOnRecordAndCountsAsItIs, ()) {
    World world;
    const auto steps = pick(10, 60);
    for (int i = 0; i < steps; ++i) world.act();
    world.check_events();
}

}  // namespace
}  // namespace knell::testing
