// The background processes of a random history.

#include <iterator>

#include "random_history.hpp"

namespace knell::testing {

namespace {

using std::chrono::milliseconds;

SessionId session_of(Ordinal ordinal) {
    return SessionId(ordinal == 0 ? "not on record" : "s" + std::to_string(ordinal));
}

}  // namespace

ActivityFacts RandomHistory::activity() {
    return {static_cast<ProcessActivity>(below(process_activity_names.size())), time(), text()};
}

ProcessExit RandomHistory::an_exit() {
    ProcessExit exit;
    exit.kind = static_cast<ExitKind>(below(exit_kind_names.size()));
    exit.number = static_cast<int>(below(256));
    exit.evidence = text();
    exit.at = time();
    exit.after = exit.at - milliseconds{below(1000)};
    exit.before = exit.at + milliseconds{below(1000)};
    return exit;
}

BackgroundProcess RandomHistory::a_process(std::int64_t number) {
    const auto& known = processes_.at(number);
    BackgroundProcess process;
    process.number = number;
    process.id = known.id;
    process.session_id = session_of(known.session);
    process.generation = static_cast<Generation>(1 + below(3));
    process.task_id = text();
    process.origin = static_cast<ProcessOrigin>(below(process_origin_names.size()));
    process.process = known.identity;
    for (auto count = below(4); count > 0; --count) process.argv.push_back(text());
    process.cwd = text();
    process.title = text();
    process.started_at = time();
    process.activity = activity();
    process.stale_since = maybe_time();
    process.vouched_until = maybe_time();
    if (one_in(2)) {
        process.stop_asked_at = time();
        process.stop_asked_by = text();
    }
    return process;
}

template <typename Changed>
Changed RandomHistory::on_process(std::int64_t number) const {
    Changed change;
    change.number = number;
    change.id = processes_.at(number).id;
    return change;
}

void RandomHistory::tell_of(std::int64_t number, EventType type, Batch& batch) {
    const auto session = processes_.at(number).session;
    if (session == 0) return;
    const auto& row = rows_.at(session);
    auto& event = tell(batch, type, session, row);
    event.after_end = !row.open;
    event.process = a_process(number);
    if (type == EventType::process_exit) event.process->exit = an_exit();
}

void RandomHistory::open_process(Batch& batch) {
    const auto number = static_cast<std::int64_t>(processes_.size()) + 1;
    auto& process = processes_[number];
    process.identity = {static_cast<std::int32_t>(number), static_cast<std::uint64_t>(below(1000)),
                        7, "boot-1"};
    process.id = ProcessId::from_bits(static_cast<std::uint64_t>(number));
    if (!one_in(8)) process.session = any();
    // One that was taken for gone, and was not.
    if (const auto old = 1 + below(number); !processes_.at(old).running && one_in(2)) {
        process.id = processes_.at(old).id;
        process.identity = processes_.at(old).identity;
        for (const auto& [other, known] : processes_) {
            if (other == number || !known.running || known.id != process.id) continue;
            process.identity.pid = static_cast<std::int32_t>(number);
            process.id = ProcessId::from_bits(static_cast<std::uint64_t>(number));
        }
    }
    batch.changes.emplace_back(ProcessOpened{a_process(number)});
    tell_of(number, EventType::process_start, batch);
}

void RandomHistory::change_process(std::int64_t number, Batch& batch) {
    switch (below(6)) {
        case 0: {
            auto change = on_process<ProcessMarked>(number);
            change.activity = activity();
            change.stale_since = maybe_time();
            batch.changes.emplace_back(std::move(change));
            tell_of(number, EventType::process_stale, batch);
            return;
        }
        case 1: {
            auto change = on_process<ProcessVouched>(number);
            change.until = maybe_time();
            batch.changes.emplace_back(std::move(change));
            return;
        }
        case 2: {
            auto change = on_process<ProcessStopAsked>(number);
            change.at = maybe_time();
            change.by = text();
            batch.changes.emplace_back(std::move(change));
            return;
        }
        case 3: {
            const auto session = any();
            processes_.at(number).session = session;
            auto change = on_process<ProcessHandedOver>(number);
            change.session_id = session_of(session);
            change.generation = rows_.at(session).generation;
            batch.changes.emplace_back(std::move(change));
            return;
        }
        default: {
            processes_.at(number).running = false;
            auto change = on_process<ProcessEnded>(number);
            change.exit = an_exit();
            batch.changes.emplace_back(std::move(change));
            tell_of(number, EventType::process_exit, batch);
        }
    }
}

void RandomHistory::change_processes(Batch& batch) {
    for (auto count = below(5); count > 0; --count) {
        const auto number = 1 + below(static_cast<std::int64_t>(processes_.size()) + 1);
        const auto known = processes_.find(number);
        if (known != processes_.end() && known->second.running) {
            change_process(number, batch);
        } else {
            open_process(batch);
        }
    }
}

void RandomHistory::spoil_processes(Batch& batch) {
    const auto number = 1 + below(static_cast<std::int64_t>(processes_.size()));
    auto& process = processes_.at(number);
    const auto next = static_cast<std::int64_t>(processes_.size()) + 1;
    switch (below(5)) {
        case 0:
            process.id = ProcessId::from_bits(1U << 31U);  // another one
            break;
        case 1:
            if (process.running) change_process(number, batch);
            while (process.running) change_process(number, batch);
            break;  // one that has ended
        case 2:
            processes_[next] = process;
            return change_process(next, batch);  // one that is not there
        case 3:
            batch.changes.emplace_back(ProcessOpened{a_process(number)});
            return;  // a number that is taken
        default: {
            open_process(batch);
            auto same = a_process(next);
            same.number = next + 1;
            if (one_in(2)) {
                same.id = ProcessId::from_bits(1U << 31U);  // on record, by another id
            } else {
                same.process.pid = -1;  // an id that is taken
            }
            batch.changes.emplace_back(ProcessOpened{std::move(same)});
            return;
        }
    }
    change_process(number, batch);
}

ProcessQuery RandomHistory::process_query() {
    ProcessQuery query;
    if (one_in(3)) query.session_id = session_of(one_in(8) ? 0 : any());
    if (one_in(3)) query.key = text();
    query.running = !one_in(3);
    if (one_in(2)) query.exited_since = one_in(2) ? WallTime{} : time();
    query.limit = limit();
    if (one_in(3)) query.before = below(static_cast<std::int64_t>(processes_.size()) + 3);
    query.bytes_max = bytes();
    return query;
}

}  // namespace knell::testing
