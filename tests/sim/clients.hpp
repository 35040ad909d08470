#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/effect.hpp"
#include "ledger.hpp"
#include "rpc/attachments.hpp"
#include "testing/silent_stream.hpp"

namespace knell::sim {

/// Who looks at a session, by what clients were answered and by who is really connected.
struct LookedAt {
    std::set<ClientId> attached;  // was told so, and is connected
    std::set<ClientId> leaving;   // is not any more; the daemon may not know yet
    std::set<ClientId> turn_of;   // who began its turn or said so again, while connected
    /// The last event of these was session:attach; none: a daemon did not live to tell.
    std::optional<bool> told = false;
    Host::Duration empty_since{0};  // on the ledger's listening clock
    Generation generation = 0;      // as far as is known
    bool open = false;
    // In the step that was taken in last.
    bool has_come = false;          // somebody attached
    bool ended_while_held = false;  // it ended while somebody held it
};

/// Connections that stay open, with the real registry of what they look at, and the truth about
/// them.  Numbers begin anew with each daemon, as they do there.
class Clients {
  public:
    explicit Clients(const Ledger& ledger) : ledger_(ledger) {}

    /// The daemon is gone, and all connections with it.
    void crash();

    ClientId connect();
    bool is_connected(ClientId client) const { return connected_.contains(client); }
    std::size_t count() const { return connected_.size(); }
    /// The `which`-th of them; none when there is none.
    ClientId pick(std::uint32_t which) const;

    /// A call of that connection comes into the daemon's hands.
    void ask(const Input& input);
    /// Its answer.
    void answer(const Input& input, const Result<Reply>& reply);
    /// It is closed: what the daemon hears of that.
    ClientGone disconnect(ClientId client);
    void release(const ReleaseClients& ended);

    /// What a step did.  Before the ledger takes it in.
    void note(const StepFacts& step);
    /// The daemon knows of all who have gone by now.
    void note_all_heard();

    const std::map<std::string, LookedAt>& looked_at() const { return looked_at_; }
    const LookedAt* find(const SessionId& id) const;
    /// A sentence on events that should or should not have been told; "": all is well.
    const std::string& wrongly_told() const { return wrongly_told_; }

  private:
    struct Asked {
        Input input;
        rpc::Attachments::Ticket ticket = 0;
    };
    void note_said(const Said& said);
    void note_opened(const OpenedReply& opened);
    void note_closed(const SessionId& id, std::optional<Generation> generation);
    void note_event(const Event& event, bool by_former);
    void let_go(LookedAt& session);
    void grow_empty(LookedAt& session) const;

    const Ledger& ledger_;
    rpc::Attachments registry_;
    testing::SilentStream stream_;  // of all of them: nothing is sent here
    std::set<ClientId> connected_;
    std::uint64_t last_ = 0;
    std::deque<Asked> asked_;  // and not answered
    std::map<std::string, LookedAt> looked_at_;
    std::set<std::pair<std::string, Generation>> handed_over_;  // in the step
    std::string wrongly_told_;
};

}  // namespace knell::sim
