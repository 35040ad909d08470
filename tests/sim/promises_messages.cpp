// About what was said: it is on record, and goes on in children as it was asked for.

#include <algorithm>

#include <fmt/format.h>

#include "promises.hpp"
#include "store/archive.hpp"

namespace knell::sim {

namespace {

std::string lost_of(const std::string& id, const Scene& scene) {
    const auto found = scene.ledger.conversations.messages().find(id);
    const auto row = scene.reader->find(SessionId(id));
    if (!row || !*row) return {};  // a bad disk
    const auto page = scene.reader->messages({.session = (*row)->ordinal, .limit = 100'000});
    if (!page) return {};
    Tally tally;
    for (const auto& message : page->messages) count(tally, message);
    if (tally != (*row)->tally) {
        return fmt::format("session {} holds {} messages, and counts {}", id, tally.messages,
                           (*row)->tally.messages);
    }
    if (found == scene.ledger.conversations.messages().end()) return {};
    for (const auto& [number, message] : found->second) {
        if (number > tally.messages) {
            return fmt::format("session {}: message {}, \"{}\", is not there", id, number,
                               message.content);
        }
        const auto& there = page->messages[static_cast<std::size_t>(number - 1)];
        if (there == message) continue;
        return fmt::format("session {}: message {} is \"{}\", not \"{}\"", id, number,
                           there.content, message.content);
    }
    return {};
}

}  // namespace

std::string messages_of_child_lost(const Scene& scene) {
    if (scene.reader == nullptr) return {};
    for (const auto& event : scene.step.told) {
        if (event.type != EventType::session_start || event.parent_id.empty()) continue;
        if (auto what = lost_of(event.session_id.text(), scene); !what.empty()) return what;
        if (auto what = lost_of(event.parent_id.text(), scene); !what.empty()) return what;
    }
    return {};
}

std::string messages_lost(const Scene& scene) {
    for (const auto& [id, known] : scene.ledger.sessions()) {
        if (auto what = lost_of(id, scene); !what.empty()) return what;
    }
    return {};
}

std::string messages_not_found(const Scene& scene) {
    if (scene.reader == nullptr) return {};
    for (const auto& [id, said] : scene.ledger.conversations.messages()) {
        const auto row = scene.reader->find(SessionId(id));
        if (said.empty() || !row || !*row) continue;
        // The first, which is in the index by now, and the last, which may not be.
        for (const auto& [number, message] : {*said.begin(), *said.rbegin()}) {
            SearchQuery query;
            auto terms = parse_search_terms(message.content);
            if (!terms) continue;
            query.terms = std::move(*terms);
            query.limit = SIZE_MAX - 1;
            const auto page = archive_of(*scene.reader).search(query);
            if (!page) continue;  // a bad disk
            const auto is_it = [&](const FoundMessage& found) {
                return found.session_id.text() == id && found.number == number;
            };
            if (std::ranges::count_if(page->messages, is_it) == 1) continue;
            return fmt::format("session {}: message {}, \"{}\", is not found once", id, number,
                               message.content);
        }
    }
    return {};
}

}  // namespace knell::sim
