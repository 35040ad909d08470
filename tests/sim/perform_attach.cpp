// Clients on connections that stay open: what each of them asks for comes in order and once, until
// the connection is cut.

#include <algorithm>

#include <fmt/format.h>

#include "world.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t clients_max = 6;

/// Whose connection a call comes on; none: any.
ClientId client_of(const Input& input) {
    if (const auto* attach = as<Attach>(input)) return attach->client;
    if (const auto* detach = as<Detach>(input)) return detach->client;
    const auto* turn = as<Turn>(input);
    return turn == nullptr ? ClientId::none : turn->client;
}

}  // namespace

bool World::is_cut(const Input& input) const {
    const auto client = client_of(input);
    return client != ClientId::none && !clients_.is_connected(client);
}

void World::create_hosted(const Action& action) {
    Create create;
    create.draft.id = SessionId(fmt::format("s{}", ++last_id_));
    create.draft.source = "web";
    create.draft.owner = hosted_owner(action);
    ids_.push_back(create.draft.id.text());
    send(action, std::move(create));
}

Owner World::hosted_owner(const Action& action) {
    Owner owner;
    owner.kind = OwnerKind::hosted;
    owner.host = "simulated";
    owner.lease_ttl = std::chrono::seconds{action.how / 64 % 26 + 5};
    return owner;
}

ClientId World::some_client(std::uint32_t which) {
    const auto client = clients_.pick(which / 3);
    const bool is_new = client == ClientId::none || which % 3 == 0;
    return is_new && clients_.count() < clients_max ? clients_.connect() : client;
}

/// On a connection nothing is lost or overtaken.
void World::call(Input input) {
    say(fmt::format("  client {}, session {}", static_cast<std::uint64_t>(client_of(input)),
                    subject_of(input)->text()));
    requests_.push_back({host_.elapsed(), std::move(input), 1, false});
    hear();
}

void World::hang_up(ClientId client) {
    if (client == ClientId::none) return;
    say(fmt::format("  client {}", static_cast<std::uint64_t>(client)));
    auto gone = clients_.disconnect(client);
    std::erase_if(requests_, [this](const Request& request) { return is_cut(request.input); });
    if (!node_.is_up() || (gone.sessions.empty() && gone.turns.empty())) return;
    arrived_.push_back(heard_now(Observation{std::move(gone)}, /*observed=*/true));
}

/// A page is loaded anew, over and over: each time the connection is cut or closed, and another
/// comes and looks at the same session.
void World::storm(const Action& action) {
    const SessionId session(pick_session(action.which));
    auto client = some_client(action.which / 8);
    for (std::uint32_t i = 0; i < action.how % 6 + 2 && !broken_ && node_.is_up(); ++i) {
        if (client == ClientId::none) return;
        call(Attach{session, client});
        if (i % 2 == 0) run_for(std::chrono::milliseconds{action.fate % 3000});
        if (i % 3 == 0) call(Detach{session, client});
        hang_up(client);
        if (i % 4 == 0) run_for(std::chrono::milliseconds{action.fate / 4096 % 7000});
        client = clients_.connect();
    }
    hang_up(client);
}

bool World::perform_on_clients(const Action& action) {
    const SessionId session(pick_session(action.which));
    switch (action.kind) {
        case Kind::create_hosted:
            create_hosted(action);
            return true;
        case Kind::attach:
        case Kind::detach:
        case Kind::turn_by_client:
            break;
        case Kind::hang_up_client:
            hang_up(clients_.pick(action.which));
            return true;
        case Kind::reload:
            if (node_.is_up()) storm(action);
            return true;
        case Kind::name_hosted:
            if (node_.is_up()) {
                requests_.push_back({host_.elapsed(), Observation{Named{session}}, 1, false});
            }
            return true;
        default:
            return false;
    }
    if (!node_.is_up()) return true;
    const auto client = some_client(action.how);
    if (client == ClientId::none) return true;
    if (action.kind == Kind::attach) call(Attach{session, client});
    if (action.kind == Kind::detach) call(Detach{session, client});
    if (action.kind == Kind::turn_by_client) {
        Turn turn{session, generation_of(session.text(), /*wrong=*/false), /*on=*/true};
        turn.client = client;
        turn.window = std::chrono::seconds{action.fate / 16 % 40 + 5};
        call(std::move(turn));
    }
    return true;
}

/// Nobody is there any more.  Turns that would hold their sessions for hours are over: those that
/// an earlier daemon saw begin.
void World::send_clients_away() {
    while (clients_.count() > 0) hang_up(clients_.pick(0));
    for (const auto& [id, known] : ledger_.sessions()) {
        const auto* life = known.open ? ledger_.life(SessionId(id), known.generation) : nullptr;
        if (life == nullptr || life->owner.kind != OwnerKind::hosted) continue;
        const auto* live = node_.write_step().state().find(SessionId(id));
        if (live != nullptr && live->turn_window() < 1min) continue;
        requests_.push_back(
            {host_.elapsed(), Turn{SessionId(id), known.generation, /*on=*/false}, 1, false});
    }
}

}  // namespace knell::sim
