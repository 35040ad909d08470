#include "activity/socket_tables.hpp"

#include <fmt/format.h>

namespace knell {

namespace {

using namespace std::chrono_literals;

/// Reading /proc/<pid>/net/tcp walks a table that is sized by the machine's memory, several
/// milliseconds even when it is empty; sock_diag takes a twentieth of that.
constexpr auto diag_good_for = 2s;
constexpr auto proc_good_for = 10s;
/// Longer than any tree waits for its turn.
constexpr auto keep_unasked = 5min;

}  // namespace

void SocketTables::begin_round(SteadyTime now) {
    ++round_;
    std::erase_if(kept_,
                  [now](const auto& kept) { return now - kept.second.asked_at > keep_unasked; });
}

SocketTables::Kept SocketTables::read(std::uint64_t network, pid_t pid) const {
    Kept kept{.table = std::make_unique<SocketTable>(), .good_for = diag_good_for};
    const auto folder = fmt::format("{}/{}/net", proc_, pid);
    if (network != own_ || !read_sock_diag(*kept.table)) {
        kept.table = std::make_unique<SocketTable>();
        kept.good_for = proc_good_for;
        if (!read_net_tcp(*kept.table, folder)) kept.table.reset();
    }
    if (kept.table && !read_net_unix(*kept.table, folder)) kept.table.reset();
    return kept;
}

const SocketTable* SocketTables::find(std::uint64_t network, pid_t pid, SteadyTime now) {
    auto& kept = kept_[network];
    const bool is_old = kept.round != round_ && now - kept.read_at >= kept.good_for;
    if (kept.round == 0 || is_old) {
        kept = read(network, pid);
        kept.read_at = now;
        kept.round = round_;
    }
    kept.asked_at = now;
    return kept.table.get();
}

}  // namespace knell
