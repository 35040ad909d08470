#include "leftovers.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace knell::sim {

// --- what can be seen ---------------------------------------------------------------------------

std::vector<pid_t> HostTree::pids() const {
    std::vector<pid_t> pids;
    for (const auto& process : host_.processes()) {
        if (process.alive) pids.push_back(process.here);
    }
    return pids;
}

std::optional<ProcStat> HostTree::stat(pid_t pid) const {
    const auto* process = host_.holder_of(pid);
    if (process == nullptr || !process->readable) return std::nullopt;
    ProcStat stat;
    stat.parent = process->parent;
    stat.group = process->group;
    stat.session = process->session;
    stat.start_ticks = process->identity.start_ticks;
    stat.state = process->alive ? 'S' : 'Z';
    return stat;
}

std::optional<std::vector<pid_t>> HostTree::children(pid_t pid) const {
    std::vector<pid_t> pids;
    for (const auto& process : host_.processes()) {
        if (process.alive && process.parent == pid) pids.push_back(process.here);
    }
    return pids;
}

std::optional<std::string> HostTree::environment(pid_t pid) const {
    const auto* process = host_.holder_of(pid);
    if (process == nullptr || !process->readable) return std::nullopt;
    if (process->started_by.empty() || process->hides_cookie) return "";
    // Before it executes its program it has the environment of the daemon.
    if (process->gate != Host::Gate::none && process->executed == 0) return "";
    auto text = fmt::format("KNELL_SESSION_ID={}\nKNELL_GENERATION={}\nKNELL_SOCKET={}\n",
                            process->started_by, process->started_in, socket_path);
    if (!process->process_id.empty()) {
        text += fmt::format("KNELL_PROCESS_ID={}\n", process->process_id);
    }
    for (auto& c : text) c = c == '\n' ? '\0' : c;
    return text;
}

std::optional<Sockets> HostTree::sockets(pid_t pid) const {
    const auto* process = host_.holder_of(pid);
    if (process == nullptr || !process->readable) return std::nullopt;
    return Sockets{.listens_on_unix = process->serves, .own = {}, .peers = {}};
}

bool HostTree::is_knell(pid_t pid) const {
    const auto* process = host_.holder_of(pid);
    return process != nullptr && process->gate != Host::Gate::none && process->executed == 0;
}

// --- what can be held ---------------------------------------------------------------------------

class HostHolder::Held final : public HeldProcess {
  public:
    Held(const HostHolder& holder, ProcessIdentity process)
        : holder_(holder), process_(std::move(process)) {}
    bool has_ended() const override { return !holder_.host_.is_alive(process_); }
    int signal(int number) override {
        holder_.on_signal_(process_, number);
        return 0;
    }
    std::optional<uid_t> uid() const override { return std::nullopt; }

  private:
    const HostHolder& holder_;
    const ProcessIdentity process_;
};

std::expected<std::unique_ptr<HeldProcess>, NotHeld> HostHolder::hold(
    const ProcessIdentity& process) const {
    if (process.boot_id != host_.boot_id()) return std::unexpected(NotHeld::gone);
    if (process.pid_namespace != host_.own_pid_namespace()) {
        return std::unexpected(NotHeld::unreachable);
    }
    const auto* holder = host_.holder_of(process.pid);
    if (holder == nullptr || holder->identity != process) return std::unexpected(NotHeld::gone);
    if (!holder->readable) return std::unexpected(NotHeld::unreachable);
    return std::make_unique<Held>(*this, process);
}

bool HostHolder::is_spared(const ProcessIdentity& process) const {
    if (owners_.contains(process)) return true;
    const auto children = tree_.children(process.pid);
    for (const auto child : *children) {
        const auto* holder = host_.holder_of(child);
        if (holder != nullptr && is_spared(holder->identity)) return true;
    }
    return false;
}

// --- what is under way --------------------------------------------------------------------------

Leftovers::Leftovers(Host& host, OnSignal on_signal)
    : host_(host),
      tree_(host),
      holder_(host, tree_, owners_, std::move(on_signal)),
      stopping_(holder_, tree_,
                {.socket = HostTree::socket_path,
                 .owners = owners_,
                 .as_others = [this](const ProcessIdentity& process,
                                     const SessionId& session) -> std::optional<OthersProcess> {
                     const auto of = std::ranges::find_if(on_record_, [&](const auto& one) {
                         return one.second.process == process && one.second.session != session;
                     });
                     if (of == on_record_.end()) return std::nullopt;
                     return OthersProcess{of->first, of->second.session};
                 }}) {}

std::vector<FoundLeftovers> Leftovers::find(const FindLeftovers& what) {
    return FinderAtStart(tree_, owners_, HostTree::socket_path).find(what);
}

void Leftovers::look(const FindLeftovers& what) {
    looks_.push_back(std::make_unique<Look>(Look{
        what.process, what.departure, LeftoverLook(searches_for(what, HostTree::socket_path))}));
}

void Leftovers::stop(StopLeftovers&& what) {
    stopping_.add(StopOrder{std::move(what.session_id), what.generation, std::move(what.leftovers)},
                  host_.readings().awake);
}

void Leftovers::stop(StopTree&& what) {
    const auto of = on_record_.find(what.id);
    if (of == on_record_.end()) return;
    stopping_.add(TreeRoot{what.id, of->second.session, what.process}, host_.readings().awake);
}

void Leftovers::take_up_remains(Reader& reader) {
    if (std::exchange(has_taken_up_, true)) return;
    for (const auto& id : find_marks(tree_, HostTree::socket_path)) {
        const auto row = reader.process(id);
        if (!row) has_taken_up_ = false;  // a bad disk: it is tried again
        if (!row || !*row) continue;
        const auto& process = (*row)->process;
        if (!process.exit || !process.stop_asked_at) continue;
        stopping_.add(TreeRoot{id, process.session_id, process.process}, host_.readings().awake);
    }
}

void Leftovers::note(const WatchProcess& what) {
    on_record_[what.process.id] = {what.process.process, what.process.session_id};
}

std::vector<Input> Leftovers::step() {
    if (host_.elapsed() < goes_on_at_) return {};
    std::vector<Input> words;
    const auto now = host_.readings().awake;
    std::erase_if(looks_, [&](const std::unique_ptr<Look>& one) {
        auto found = one->look.step(tree_, owners_, now);
        if (!found) return false;
        words.emplace_back(
            OwnerGone{one->process, one->departure, std::move(*found), /*searched=*/true});
        return true;
    });
    auto done = stopping_.step(now);
    for (auto& tree : done.trees) {
        if (tree.left.empty()) continue;
        words.emplace_back(
            ProcessNotStopped{tree.root.id, tree.root.process, std::move(tree.left)});
    }
    for (auto& order : done.orders) {
        words.emplace_back(SettleLeftovers{std::move(order.session_id), order.generation,
                                           std::move(order.leftovers)});
    }
    return words;
}

}  // namespace knell::sim
