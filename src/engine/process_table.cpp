#include "engine/process_table.hpp"

#include "base/check.hpp"

namespace knell {

namespace {

template <typename Map, typename Key>
const RunningProcess* find_in_map(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : found->second;
}

}  // namespace

const RunningProcess* RunningProcesses::find(const ProcessId& id) const {
    return find_in_map(by_id_, id);
}

const RunningProcess* RunningProcesses::find(const ProcessIdentity& process) const {
    return find_in_map(by_process_, process);
}

std::vector<const RunningProcess*> RunningProcesses::of(const SessionId& session_id) const {
    std::vector<const RunningProcess*> processes;
    const auto found = by_session_.find(session_id);
    if (found == by_session_.end()) return processes;
    for (const auto& [number, process] : found->second.processes) processes.push_back(process);
    return processes;
}

std::size_t RunningProcesses::count_of(const SessionId& session_id) const {
    const auto found = by_session_.find(session_id);
    return found == by_session_.end() ? 0 : found->second.processes.size();
}

std::size_t RunningProcesses::counting_of(const SessionId& session_id) const {
    const auto found = by_session_.find(session_id);
    return found == by_session_.end() ? 0 : found->second.counting;
}

const RunningProcess* RunningProcesses::vouch_over(WallTime now) const {
    const auto number = vouches_.due(now);
    return number ? &by_number_.at(*number) : nullptr;
}

void RunningProcesses::insert(RunningProcess process) {
    const auto number = process.row.number;
    const auto [place, is_new] = by_number_.emplace(number, std::move(process));
    const auto* placed = &place->second;
    const auto& row = placed->row;
    CHECK(is_new && by_id_.emplace(row.id, placed).second);
    CHECK(by_process_.emplace(row.process, placed).second);
    auto& session = by_session_[row.session_id];
    session.processes.emplace(number, placed);
    if (placed->counts()) ++session.counting;
    if (row.vouched_until) vouches_.schedule(number, *row.vouched_until);
    ++counts_.at(static_cast<std::size_t>(row.activity.activity));
}

RunningProcess RunningProcesses::erase(const ProcessId& id) {
    const auto found = by_id_.find(id);
    CHECK(found != by_id_.end());
    const auto& row = found->second->row;
    --counts_.at(static_cast<std::size_t>(row.activity.activity));
    vouches_.cancel(row.number);
    const auto session = by_session_.find(row.session_id);
    if (found->second->counts()) --session->second.counting;
    session->second.processes.erase(row.number);
    if (session->second.processes.empty()) by_session_.erase(session);
    by_process_.erase(row.process);
    const auto number = row.number;
    by_id_.erase(found);
    return std::move(by_number_.extract(number).mapped());
}

}  // namespace knell
