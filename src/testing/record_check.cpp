#include "testing/record_check.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace knell::testing {

namespace {

/// An end as it was told, with what has become since then of the leftovers that were being stopped.
End with_fates_of(const std::optional<End>& record, End told) {
    if (!record || record->leftovers.size() != told.leftovers.size()) return told;
    for (std::size_t i = 0; i < told.leftovers.size(); ++i) {
        auto& leftover = told.leftovers[i];
        if (leftover.fate != Fate::stopping) continue;
        leftover.fate = record->leftovers[i].fate;
        leftover.process_id = record->leftovers[i].process_id;
    }
    return told;
}

/// What a person writes on a session, and what becomes of its background processes, may be told
/// after its end; nothing else is.
bool may_follow_end(const Event* event) {
    return event->type == EventType::session_update || event->process;
}

using Generations = std::map<Generation, std::vector<const Event*>>;

class Checker {
  public:
    Checker(const Record& record, Reader& reader) : record_(record), reader_(reader) {}

    std::vector<std::string> run() {
        check_numbers();
        std::map<std::string, Generations> told;
        for (const auto& event : record_.events) {
            if (!event.session_id.empty()) {
                told[event.session_id.text()][event.generation].push_back(&event);
            }
        }
        if (!trimmed_ && told.size() != record_.sessions.size()) {
            broken_.push_back(fmt::format("{} sessions on record, events tell of {}",
                                          record_.sessions.size(), told.size()));
        }
        for (const auto& session : record_.sessions) {
            check_session(session, told[session.id.text()]);
        }
        check_processes();
        return std::move(broken_);
    }

  private:
    void check_numbers() {
        if (record_.events.empty()) return;
        Seq expected = record_.events.front().seq;
        trimmed_ = expected > 1;
        for (const auto& event : record_.events) {
            if (event.seq != expected) {
                broken_.push_back(
                    fmt::format("event {} stands where {} should", event.seq, expected));
                return;
            }
            ++expected;
        }
    }

    void check_session(const Session& session, const Generations& generations) {
        if (!trimmed_ && generations.size() != session.generation) {
            broken_.push_back(fmt::format("session {} is at generation {}, events tell of {}",
                                          session.id.text(), session.generation,
                                          generations.size()));
        }
        for (const auto& [generation, events] : generations) {
            const bool open = generation == session.generation && !session.end;
            check_generation(session, generation, events, open);
        }
        const auto page = reader_.messages({.session = session.ordinal, .limit = 1'000'000});
        const auto* messages = page ? &page->messages : nullptr;
        if (messages == nullptr ||
            static_cast<std::int64_t>(messages->size()) != session.tally.messages) {
            broken_.push_back(fmt::format("session {} counts {} messages and holds {}",
                                          session.id.text(), session.tally.messages,
                                          messages != nullptr ? messages->size() : 0));
        }
    }

    void check_generation(const Session& session, Generation generation,
                          std::vector<const Event*> events, bool open) {
        const auto complain = [&](std::string_view what) {
            broken_.push_back(
                fmt::format("session {} generation {}: {}", session.id.text(), generation, what));
        };
        std::size_t starts = 0;
        std::size_t ends = 0;
        for (const auto* event : events) {
            starts += event->type == EventType::session_start ? 1U : 0U;
            ends += event->type == EventType::session_end ? 1U : 0U;
        }
        // Its start may be among what the log deleted; then it is the first that is missing.
        const bool cut = trimmed_ && starts == 0;
        if (!cut && starts != 1) complain(fmt::format("{} starts", starts));
        if (!cut && events.front()->type != EventType::session_start) {
            complain("does not begin with its start");
        }
        // Of what the log deleted, what was written on it later may be all that is left.
        if (cut && ends == 0 && std::ranges::all_of(events, may_follow_end)) return;
        if (ends != (open ? 0U : 1U)) complain(fmt::format("{} ends, open: {}", ends, open));
        if (ends == 0) return;
        while (events.size() > 1 && may_follow_end(events.back())) events.pop_back();
        const auto& last = *events.back();
        if (last.type != EventType::session_end) return complain("its end is not its last event");
        if (!last.end || last.end->evidence.empty()) return complain("an end without evidence");
        if (generation != session.generation) return;
        if (session.end != with_fates_of(session.end, *last.end)) {
            complain("the end on record is not the end that was told");
        }
    }

    /// What was told of one process, by its number.
    struct Told {
        int starts = 0;
        std::vector<ProcessExit> exits;
    };

    void check_processes() {
        std::map<std::int64_t, Told> told;
        for (const auto& event : record_.events) {
            if (!event.process) continue;
            auto& [starts, exits] = told[event.process->number];
            if (event.type == EventType::process_start) ++starts;
            if (event.type != EventType::process_exit) continue;
            exits.push_back(event.process->exit.value_or(ProcessExit{}));
        }
        std::set<std::string> running;
        for (const auto& [process, session] : record_.processes) {
            const auto complain = [&](std::string_view what) {
                broken_.push_back(
                    fmt::format("process {} ({}): {}", process.id.text(), process.number, what));
            };
            if (!process.exit && !running.insert(process.id.text()).second) {
                complain("is on record twice while it runs");
            }
            const auto& [starts, exits] = told[process.number];
            if (starts > 1 || (starts == 0 && !trimmed_))
                complain(fmt::format("{} starts", starts));
            if (exits.empty() && process.exit && !trimmed_) complain("its exit was not told");
            if (exits.size() > 1) complain("its exit was told more than once");
            if (!exits.empty() && exits.front() != process.exit) {
                complain("the exit on record is not the exit that was told");
            }
        }
        // Those on record are among them by now, whether anything was told of them or not.
        if (told.size() != record_.processes.size()) {
            broken_.push_back(fmt::format("{} processes on record, events tell of {}",
                                          record_.processes.size(), told.size()));
        }
    }

    const Record& record_;
    Reader& reader_;
    bool trimmed_ = false;  // the log has deleted its oldest events
    std::vector<std::string> broken_;
};

}  // namespace

Result<Record> read_record(Reader& reader) {
    Record record;
    SessionQuery sessions{.all = true, .limit = 100};
    do {
        auto page = reader.list(sessions);
        if (!page) return std::unexpected(page.error());
        for (auto& session : page->sessions) record.sessions.push_back(std::move(session));
        sessions.before = page->next;
    } while (sessions.before);
    ProcessQuery processes{.exited_since = WallTime{}, .limit = 100};
    do {
        auto page = reader.processes(processes);
        if (!page) return std::unexpected(page.error());
        for (auto& process : page->processes) record.processes.push_back(std::move(process));
        processes.before = page->next;
    } while (processes.before);
    EventQuery events{.limit = 100};
    for (;;) {
        auto page = reader.events(events);
        if (!page) return std::unexpected(page.error());
        if (page->events.empty()) return record;
        for (auto& event : page->events) record.events.push_back(std::move(event));
        events.after = page->next;
    }
}

std::vector<std::string> broken_promises(Reader& reader) {
    const auto record = read_record(reader);
    if (!record) return {"the record cannot be read: " + record.error().message};
    return Checker(*record, reader).run();
}

}  // namespace knell::testing
