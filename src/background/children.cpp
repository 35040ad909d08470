#include "background/children.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <sys/wait.h>

namespace knell {

void Children::hold(const ProcessId& id, Launched launched, std::string program) {
    const Lock lock(mutex_);
    by_pid_.emplace(launched.process.pid, id);
    children_.try_emplace(id, Child{.process = std::move(launched.child),
                                    .identity = std::move(launched.process),
                                    .program = std::move(program)});
}

void Children::refuse(const ProcessId& id) {
    forget(id);
}

bool Children::let_go(const ProcessId& id, Generation generation) {
    const Lock lock(mutex_);
    const auto at = children_.find(id);
    if (at == children_.end() || at->second.was_let_go) return false;
    at->second.was_let_go = true;
    at->second.process.open(fmt::to_string(generation));
    reporting_.insert(id);
    return true;
}

void Children::look(const ProcessId& id, Child& child) {
    const auto told = child.process.look();
    if (told.failure) child.failure = told.failure;
    if (told.is_over) reporting_.erase(id);
}

std::string Children::why_never_ran(const ProcessIdentity& process) {
    const Lock lock(mutex_);
    const auto id = by_pid_.find(process.pid);
    if (id == by_pid_.end()) return {};
    auto& child = children_.at(id->second);
    if (child.identity != process) return {};
    // It wrote that before it ended, so it is there by now.
    if (child.was_let_go) look(id->second, child);
    return child.failure ? why_not_executed(*child.failure, child.program) : std::string{};
}

void Children::forget(const ProcessId& id) {
    const Lock lock(mutex_);
    const auto at = children_.find(id);
    if (at == children_.end()) return;
    unreaped_.insert(at->second.identity.pid);
    by_pid_.erase(at->second.identity.pid);
    reporting_.erase(id);
    children_.erase(at);  // and with it its gate
    reap();
}

void Children::reap_later(pid_t pid) {
    const Lock lock(mutex_);
    unreaped_.insert(pid);
}

void Children::reap() {
    std::erase_if(unreaped_, [](pid_t pid) {
        siginfo_t ended{};
        const int looked = waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG);
        return looked == 0 ? ended.si_pid != 0 : errno == ECHILD;
    });
}

void Children::add_descriptors(std::vector<pollfd>& out) const {
    const Lock lock(mutex_);
    for (const auto& id : reporting_) {
        const int report = children_.at(id).process.report();
        out.push_back({.fd = report, .events = POLLIN, .revents = 0});
    }
}

void Children::step() {
    const Lock lock(mutex_);
    for (const auto& id : std::vector(reporting_.begin(), reporting_.end())) {
        look(id, children_.at(id));
    }
    reap();
}

bool Children::has_unreaped() const {
    const Lock lock(mutex_);
    return !unreaped_.empty();
}

std::size_t Children::count() const {
    const Lock lock(mutex_);
    return children_.size();
}

}  // namespace knell
