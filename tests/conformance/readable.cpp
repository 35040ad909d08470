#include "readable.hpp"

#include <gtest/gtest.h>

#include "testing/record_check.hpp"

namespace knell::testing {

namespace {

template <typename Value>
Value taken(Result<Value> result) {
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(*result) : Value{};
}

auto into(std::vector<Session>& sessions) {
    return [&sessions](const Session& session) { sessions.push_back(session); };
}

}  // namespace

Readable read_all(Store& store) {
    Readable all;
    const auto reader = taken(store.open_reader());
    if (!reader) return all;
    auto record = taken(read_record(*reader));
    all.sessions = std::move(record.sessions);
    all.events = std::move(record.events);
    all.processes = std::move(record.processes);
    for (const auto& on_record : all.processes) {
        const auto found = taken(reader->process(on_record.process.id));
        EXPECT_TRUE(found) << on_record.process.id.text();
        if (found) all.processes_found.push_back(*found);
    }
    EXPECT_TRUE(store.for_each_running_process(
        [&](const BackgroundProcess& process) { all.running.push_back(process); }));
    for (const auto& session : all.sessions) {
        const auto found = taken(store.find(session.id));
        const auto read = taken(reader->find(session.id));
        EXPECT_EQ(found, read) << session.id.text();
        if (found) all.found.push_back(*found);
        all.messages[session.id.text()] =
            taken(reader->messages({.session = session.ordinal, .limit = 100'000})).messages;
    }
    for (const auto& session : all.sessions) {
        const auto of_key = taken(store.newest_of_key(session.key));
        if (of_key) all.by_key[session.key] = *of_key;
        const auto child = taken(store.newest_child(session.parent_id, session.relation));
        if (child) all.children[{session.parent_id.text(), session.relation}] = *child;
    }
    EXPECT_TRUE(store.for_each_open(into(all.open)));
    EXPECT_TRUE(store.for_each_unsettled(into(all.unsettled)));
    all.heads = taken(store.heads());
    all.ends = taken(reader->ends_since({}));
    all.leaked = taken(reader->leaked());
    all.subscriptions = taken(reader->subscriptions());
    all.letters = taken(reader->letters({.limit = 100'000}));
    return all;
}

std::string difference(const Readable& one, const Readable& other) {
    std::string parts;
    const auto compare = [&](const char* name, bool same) {
        if (!same) parts += std::string(parts.empty() ? "" : ", ") + name;
    };
    compare("sessions", one.sessions == other.sessions);
    compare("sessions by id", one.found == other.found);
    compare("sessions by key", one.by_key == other.by_key);
    compare("sessions by parent", one.children == other.children);
    compare("open sessions", one.open == other.open);
    compare("unsettled sessions", one.unsettled == other.unsettled);
    compare("messages", one.messages == other.messages);
    compare("processes", one.processes == other.processes);
    compare("processes by id", one.processes_found == other.processes_found);
    compare("running processes", one.running == other.running);
    compare("events", one.events == other.events);
    compare("heads", one.heads == other.heads);
    compare("counts of ends", one.ends == other.ends);
    compare("leaked sessions", one.leaked == other.leaked);
    compare("subscriptions", one.subscriptions == other.subscriptions);
    compare("letters", one.letters == other.letters);
    return parts;
}

}  // namespace knell::testing
