#include "store/memory/staged.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "store/apply.hpp"

namespace knell {

namespace {

/// As the constraints of the tables do in SQL.
Result<void> refuse(const char* why) {
    return fail(ErrorCode::storage, fmt::format("the store refused the batch: {}", why));
}

void write_messages(const Appended& change, Tables& tables) {
    auto& said = tables.messages[change.ordinal];
    auto& counts = tables.counts[{hour_of(change.at), tables.sessions.at(change.ordinal).source}];
    for (const auto& message : change.messages) {
        said.push_back({message, change.at, ++tables.newest_doc});
        count_tokens(counts, message);
    }
}

void write_messages(const MessagesCopied& change, Tables& tables) {
    const auto from = tables.messages.find(change.from);
    if (from == tables.messages.end()) return;
    auto copies = from->second;
    const auto first = std::clamp<std::int64_t>(change.after, 0, std::ssize(copies));
    auto& said = tables.messages[change.ordinal];
    for (auto copy = copies.begin() + first; copy != copies.end(); ++copy) {
        copy->doc = ++tables.newest_doc;
        said.push_back(std::move(*copy));
    }
}

}  // namespace

Result<void> Staged::add(const Change& change) {
    if (is_of_process(change)) return processes_.add(change);
    if (const auto* opened = std::get_if<Opened>(&change)) return open(opened->session);
    auto* row = find(ref_of(change)->ordinal);
    if (row == nullptr || !fits(*row, change)) {
        return std::unexpected(conflict_of(change, row));
    }
    if (const auto* ended = std::get_if<Ended>(&change)) {
        const auto& end = ended->end;
        if (end.ended_after > end.ended_at || end.ended_at > end.ended_before) {
            return refuse("the bounds of an end are out of order");
        }
    }
    apply(*row, change);
    if (const auto* appended = std::get_if<Appended>(&change)) return keep(*appended);
    if (const auto* copied = std::get_if<MessagesCopied>(&change)) return keep(*copied);
    return {};
}

Result<void> Staged::add(const Event& event) {
    if (event.seq != newest_ + 1) return refuse("the event is not the next of the log");
    ++newest_;
    events_.push_back(&event);
    if (event.session_id.empty()) return {};
    const auto place = place_in_log(event);
    if (tables_.places.contains(place) || !places_.insert(place).second) {
        return refuse("a generation has one start and one end");
    }
    return {};
}

void Staged::write_to(Tables& tables) {
    for (auto& [ordinal, row] : rows_) {
        tables.by_id.emplace(row.id, ordinal);
        tables.sessions.insert_or_assign(ordinal, std::move(row));
    }
    // In order: what is copied may have been said in the same batch.
    for (const auto& change : said_) {
        std::visit([&](const auto* c) { write_messages(*c, tables); }, change);
    }
    processes_.write_to(tables.processes);
    tables.places.merge(places_);
    for (const auto* event : events_) {
        tables.events.push_back(*event);
        const auto hour = hour_of(event->time);
        if (!event->session_id.empty()) count_event(tables.counts[{hour, event->source}], *event);
        if (!event->end) continue;
        ++tables.ends[{hour, event->end->reason, event->end->proof}];
    }
}

Session* Staged::find(Ordinal ordinal) {
    if (const auto staged = rows_.find(ordinal); staged != rows_.end()) return &staged->second;
    const auto row = tables_.sessions.find(ordinal);
    if (row == tables_.sessions.end()) return nullptr;
    return &rows_.emplace(*row).first->second;
}

Result<void> Staged::open(const Session& session) {
    if (tables_.by_id.contains(session.id) || !ids_.insert(session.id).second) {
        return refuse("its id is taken");
    }
    if (find(session.ordinal) != nullptr) return refuse("its place is taken");
    rows_.emplace(session.ordinal, session);
    return {};
}

Result<void> Staged::keep(const Appended& change) {
    return keep(change, static_cast<std::int64_t>(change.messages.size()));
}

Result<void> Staged::keep(const MessagesCopied& change) {
    const auto after = std::max<std::int64_t>(change.after, 0);
    return keep(change, std::max<std::int64_t>(count_of(change.from) - after, 0));
}

template <typename Said>
Result<void> Staged::keep(const Said& change, std::int64_t more) {
    auto& count = count_of(change.ordinal);
    if (count + 1 != change.first_number) return refuse("the message is not the next");
    count += more;
    said_.emplace_back(&change);
    return {};
}

std::int64_t& Staged::count_of(Ordinal ordinal) {
    const auto said = tables_.messages.find(ordinal);
    const auto [count, is_first] = messages_.try_emplace(ordinal, 0);
    if (is_first && said != tables_.messages.end()) {
        count->second = static_cast<std::int64_t>(said->second.size());
    }
    return count->second;
}

}  // namespace knell
