#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/memory_budget.hpp"

namespace knell::net {

/// What all clients together hold is too much: one after the other has to give up what it holds,
/// until it is not.  `clients` is a table from a client to who owns it; `choose` says who is next,
/// or null; who gives up may go from the table.
template <typename Clients, typename Choose, typename GiveUp>
void relieve(const MemoryBudget& budget, const Clients& clients, Choose choose, GiveUp give_up) {
    while (budget.is_exceeded()) {
        auto* chosen = choose(clients);
        if (chosen == nullptr) return;
        // A copy, which keeps it alive when it goes from the table.
        // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
        const auto client = clients.at(chosen);
        const auto before = budget.held();
        give_up(*client);
        if (budget.held() >= before) return;
    }
}

/// Of those that leave much unread, who has taken nothing for the longest: whoever reads is not to
/// go for those that do not.
template <typename Clients>
typename Clients::key_type worst_taker(const Clients& clients) {
    std::size_t most = 0;
    for (const auto& [client, owned] : clients) most = std::max(most, client->bytes_unsent());
    typename Clients::key_type worst = nullptr;
    for (const auto& [client, owned] : clients) {
        if (client->bytes_unsent() == 0 || client->bytes_unsent() < most / 4) continue;
        if (worst == nullptr || client->last_taken() < worst->last_taken()) worst = client;
    }
    return worst;
}

/// Who has sent the most without its end.
template <typename Clients>
typename Clients::key_type most_half_read(const Clients& clients) {
    const auto most = std::ranges::max_element(
        clients, {}, [](const auto& entry) { return entry.first->bytes_half_read(); });
    return most == clients.end() ? nullptr : most->first;
}

}  // namespace knell::net
