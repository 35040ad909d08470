#include "leftovers.hpp"

#include <fmt/format.h>

namespace knell::sim {

namespace {
const std::string socket_path = "knell.sock";
}  // namespace

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
    auto text = fmt::format("KNELL_SESSION_ID={}\nKNELL_GENERATION={}\nKNELL_SOCKET={}\n",
                            process->started_by, process->started_in, socket_path);
    for (auto& c : text) c = c == '\n' ? '\0' : c;
    return text;
}

std::optional<Sockets> HostTree::sockets(pid_t pid) const {
    const auto* process = host_.holder_of(pid);
    if (process == nullptr || !process->readable) return std::nullopt;
    return Sockets{.listens_on_unix = process->serves, .own = {}, .peers = {}};
}

// --- what can be held ---------------------------------------------------------------------------

class Leftovers::Holder final : public ProcessHolder {
  public:
    Holder(const Host& host, const ProcessTree& tree, const LiveOwners& owners, OnSignal on_signal)
        : host_(host), tree_(tree), owners_(owners), on_signal_(std::move(on_signal)) {}

    std::expected<std::unique_ptr<HeldProcess>, NotHeld> hold(
        const ProcessIdentity& process) const override {
        const auto* holder = host_.holder_of(process.pid);
        if (holder == nullptr || holder->identity != process) return std::unexpected(NotHeld::gone);
        if (!holder->readable) return std::unexpected(NotHeld::unreachable);
        return std::make_unique<Held>(*this, process);
    }
    bool is_spared(const ProcessIdentity& process) const override {
        if (owners_.contains(process)) return true;
        const auto children = tree_.children(process.pid);
        for (const auto child : *children) {
            const auto* holder = host_.holder_of(child);
            if (holder != nullptr && is_spared(holder->identity)) return true;
        }
        return false;
    }

  private:
    class Held final : public HeldProcess {
      public:
        Held(const Holder& holder, ProcessIdentity process)
            : holder_(holder), process_(std::move(process)) {}
        bool has_ended() const override { return !holder_.host_.is_alive(process_); }
        void signal(int number) override { holder_.on_signal_(process_, number); }

      private:
        const Holder& holder_;
        const ProcessIdentity process_;
    };

    const Host& host_;
    const ProcessTree& tree_;
    const LiveOwners& owners_;
    const OnSignal on_signal_;
};

// --- what is under way --------------------------------------------------------------------------

Leftovers::Leftovers(Host& host, OnSignal on_signal)
    : host_(host),
      tree_(host),
      holder_(std::make_unique<Holder>(host, tree_, owners_, std::move(on_signal))),
      stopper_(*holder_) {}

Leftovers::~Leftovers() = default;

std::vector<FoundLeftovers> Leftovers::find(const FindLeftovers& what) {
    return FinderAtStart(tree_, owners_, socket_path).find(what);
}

void Leftovers::look(const FindLeftovers& what) {
    looks_.push_back(std::make_unique<Look>(
        Look{what.process, what.departure, LeftoverLook(searches_for(what, socket_path))}));
}

void Leftovers::stop(StopLeftovers&& what) {
    stopper_.add({std::move(what.session_id), what.generation, std::move(what.leftovers)},
                 host_.readings().awake);
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
    for (auto& order : stopper_.step(now)) {
        words.emplace_back(SettleLeftovers{std::move(order.session_id), order.generation,
                                           std::move(order.leftovers)});
    }
    return words;
}

}  // namespace knell::sim
