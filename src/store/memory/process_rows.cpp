#include "store/memory/process_rows.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "store/apply.hpp"
#include "store/page_bytes.hpp"

namespace knell {

namespace {

bool is_wanted(const BackgroundProcess& process, const ProcessQuery& query) {
    if (!query.session_id.empty() && process.session_id != query.session_id) return false;
    if (query.before && process.number >= *query.before) return false;
    if (!process.exit) return query.running;
    return query.exited_since && process.exit->before >= *query.exited_since;
}

Result<void> refuse(const char* why) {
    return fail(ErrorCode::storage, fmt::format("the store refused the batch: {}", why));
}

}  // namespace

ProcessOnRecord::Session standing_of(const Session* session) {
    if (session == nullptr) return ProcessOnRecord::Session::none;
    return session->end ? ProcessOnRecord::Session::ended : ProcessOnRecord::Session::open;
}

ProcessRows::Identity ProcessRows::key_of(const ProcessIdentity& process) {
    return {process.pid, process.start_ticks, process.pid_namespace, process.boot_id};
}

const BackgroundProcess* ProcessRows::find(std::int64_t number) const {
    const auto row = rows_.find(number);
    return row == rows_.end() ? nullptr : &row->second;
}

const BackgroundProcess* ProcessRows::find(const ProcessId& id) const {
    const auto number = by_id_.find(id);
    return number == by_id_.end() ? nullptr : find(number->second);
}

const BackgroundProcess* ProcessRows::find_running(const BackgroundProcess& process) const {
    const auto number = by_identity_.find(key_of(process.process));
    if (number != by_identity_.end()) return find(number->second);
    const auto* same_id = find(process.id);
    return same_id != nullptr && !same_id->exit ? same_id : nullptr;
}

ProcessPage ProcessRows::list(
    const ProcessQuery& query,
    const std::function<const Session*(const SessionId&)>& session_of) const {
    ProcessPage page;
    std::size_t bytes = 0;
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
        const auto& process = row->second;
        if (!is_wanted(process, query)) continue;
        const auto* session = session_of(process.session_id);
        if (!query.key.empty() && (session == nullptr || session->key != query.key)) continue;
        if (page.processes.size() == query.limit || bytes >= query.bytes_max) {
            page.next = page.processes.back().process.number;
            break;
        }
        page.processes.push_back({process, standing_of(session)});
        bytes += page_bytes(process);
    }
    return page;
}

std::vector<BackgroundProcess> ProcessRows::running() const {
    std::vector<BackgroundProcess> found;
    for (const auto& [key, number] : by_identity_) found.push_back(rows_.at(number));
    std::ranges::sort(found, {}, &BackgroundProcess::number);
    return found;
}

void ProcessRows::put(BackgroundProcess row) {
    if (const auto key = key_of(row.process); !row.exit) {
        by_identity_[key] = row.number;
    } else if (const auto running = by_identity_.find(key);
               running != by_identity_.end() && running->second == row.number) {
        by_identity_.erase(running);
    }
    auto& newest = by_id_[row.id];
    newest = std::max(newest, row.number);
    const auto number = row.number;
    rows_.insert_or_assign(number, std::move(row));
}

Result<void> StagedProcesses::add(const Change& change) {
    if (const auto* opened = std::get_if<ProcessOpened>(&change)) return open(opened->process);
    auto* row = find(process_ref_of(change)->number);
    if (row == nullptr || !fits(*row, change)) return std::unexpected(conflict_of(change, row));
    apply(*row, change);
    if (row->exit && (row->exit->after > row->exit->at || row->exit->at > row->exit->before)) {
        return refuse("the bounds of an exit are out of order");
    }
    return {};
}

void StagedProcesses::write_to(ProcessRows& table) {
    // In order: the end of one comes before the next with its identity.
    for (auto& [number, row] : rows_) table.put(std::move(row));
}

Result<void> StagedProcesses::open(const BackgroundProcess& process) {
    if (find(process.number) != nullptr) return refuse("its number is taken");
    if (!process.exit && is_on_record(process)) return refuse("it is on record already");
    rows_.emplace(process.number, process);
    return {};
}

BackgroundProcess* StagedProcesses::find(std::int64_t number) {
    if (const auto staged = rows_.find(number); staged != rows_.end()) return &staged->second;
    const auto* row = table_.find(number);
    return row == nullptr ? nullptr : &rows_.emplace(number, *row).first->second;
}

bool StagedProcesses::is_on_record(const BackgroundProcess& process) const {
    const auto is_same = [&](const auto& staged) {
        const auto& row = staged.second;
        return !row.exit && (row.id == process.id || row.process == process.process);
    };
    if (std::ranges::any_of(rows_, is_same)) return true;
    const auto* row = table_.find_running(process);
    return row != nullptr && !rows_.contains(row->number);
}

}  // namespace knell
