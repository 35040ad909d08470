#include "rpc/attachments.hpp"

#include <utility>

namespace knell::rpc {

namespace {

std::size_t place_of(Attachments::Kind kind) {
    return static_cast<std::size_t>(kind);
}

}  // namespace

Attachments::Ticket Attachments::enter(Kind kind, const Who& who, Stream& stream,
                                       const SessionId& session) {
    auto& client = clients_[who.connection];
    client.name = who.name;
    client.stream = &stream;
    auto [entry, is_new] = client.entries.at(place_of(kind)).try_emplace(session);
    entry->second.ticket = ++last_ticket_;
    if (is_new) {
        by_session_.at(place_of(kind))[session].push_back(who.connection);
        looks_ += kind == Kind::look ? 1 : 0;
    }
    return last_ticket_;
}

void Attachments::confirm(Kind kind, ConnectionId connection, const SessionId& session,
                          Generation generation) {
    if (auto* entry = find(kind, connection, session)) entry->generation = generation;
}

void Attachments::refused(Kind kind, ConnectionId connection, const SessionId& session,
                          Ticket ticket) {
    const auto* entry = find(kind, connection, session);
    // One that it had before stands.
    if (entry == nullptr || entry->ticket != ticket || entry->generation != 0) return;
    erase(kind, connection, session);
}

void Attachments::left(Kind kind, ConnectionId connection, const SessionId& session,
                       Ticket ticket) {
    auto* entry = find(kind, connection, session);
    if (entry == nullptr) return;
    if (entry->ticket == ticket) return erase(kind, connection, session);
    entry->generation = 0;  // asked for again meanwhile
}

Attachments::Ticket Attachments::ticket_of(Kind kind, ConnectionId connection,
                                           const SessionId& session) const {
    const auto client = clients_.find(connection);
    if (client == clients_.end()) return 0;
    const auto& entries = client->second.entries.at(place_of(kind));
    const auto found = entries.find(session);
    return found == entries.end() ? 0 : found->second.ticket;
}

void Attachments::set_feed(ConnectionId connection, const SessionId& session, std::uint64_t feed) {
    if (auto* entry = find(Kind::look, connection, session)) entry->feed = feed;
}

std::uint64_t Attachments::take_feed(ConnectionId connection, const SessionId& session) {
    auto* entry = find(Kind::look, connection, session);
    return entry == nullptr ? 0 : std::exchange(entry->feed, 0);
}

std::size_t Attachments::count(ConnectionId connection) const {
    const auto client = clients_.find(connection);
    return client == clients_.end() ? 0 : client->second.entries.at(place_of(Kind::look)).size();
}

Stream* Attachments::stream_of(ConnectionId connection) const {
    const auto client = clients_.find(connection);
    return client == clients_.end() ? nullptr : client->second.stream;
}

std::vector<std::string> Attachments::others(ConnectionId connection, const SessionId& session,
                                             std::size_t max) const {
    std::vector<std::string> names;
    const auto& lookers = by_session_.at(place_of(Kind::look));
    const auto found = lookers.find(session);
    if (found == lookers.end()) return names;
    for (const auto looker : found->second) {
        if (names.size() == max) break;
        if (looker != connection) names.push_back(clients_.at(looker).name);
    }
    return names;
}

std::vector<std::uint64_t> Attachments::release(const SessionId& session, Generation generation) {
    std::vector<std::uint64_t> feeds;
    for (const auto kind : {Kind::look, Kind::turn}) {
        const auto found = by_session_.at(place_of(kind)).find(session);
        if (found == by_session_.at(place_of(kind)).end()) continue;
        for (const auto connection : std::vector(found->second)) {
            const auto* entry = find(kind, connection, session);
            // What is only asked is decided after that end, or was answered before.
            if (entry->generation == 0 || entry->generation > generation) continue;
            if (entry->feed != 0) feeds.push_back(entry->feed);
            erase(kind, connection, session);
        }
    }
    return feeds;
}

Attachments::Taken Attachments::take(ConnectionId connection) {
    Taken taken;
    const auto found = clients_.find(connection);
    if (found == clients_.end()) return taken;
    const auto client = std::move(found->second);
    clients_.erase(found);
    for (const auto kind : {Kind::look, Kind::turn}) {
        auto& sessions = kind == Kind::look ? taken.sessions : taken.turns;
        for (const auto& [session, entry] : client.entries.at(place_of(kind))) {
            sessions.push_back(session);
            unlink(kind, connection, session);
        }
    }
    return taken;
}

Attachments::Entry* Attachments::find(Kind kind, ConnectionId connection,
                                      const SessionId& session) {
    const auto client = clients_.find(connection);
    if (client == clients_.end()) return nullptr;
    auto& entries = client->second.entries.at(place_of(kind));
    const auto found = entries.find(session);
    return found == entries.end() ? nullptr : &found->second;
}

void Attachments::erase(Kind kind, ConnectionId connection, const SessionId& session) {
    unlink(kind, connection, session);
    const auto client = clients_.find(connection);
    auto& entries = client->second.entries;
    entries.at(place_of(kind)).erase(session);
    if (entries.at(0).empty() && entries.at(1).empty()) clients_.erase(client);
}

void Attachments::unlink(Kind kind, ConnectionId connection, const SessionId& session) {
    auto& sessions = by_session_.at(place_of(kind));
    const auto found = sessions.find(session);
    std::erase(found->second, connection);
    if (found->second.empty()) sessions.erase(found);
    looks_ -= kind == Kind::look ? 1 : 0;
}

}  // namespace knell::rpc
