#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/input.hpp"
#include "host.hpp"
#include "reset/reset_policies.hpp"

namespace knell::sim {

struct Said;
struct StepFacts;

/// Reset policies as they are written down, and which of them is whose, found by going through all.
struct PolicyBook {
    ResetPolicy base;
    std::vector<ResetOverride> overrides;

    const ResetPolicy& of(const ResetSubject& subject) const;
};

enum class Belief : std::uint8_t { no, maybe, yes };

/// A session as part of a conversation: what everybody outside may know of that.
struct Conversation {
    std::string key;
    std::string source;
    std::string platform;
    std::string chat_type;
    SessionId parent;
    Relation relation = Relation::none;
    std::size_t place = 0;  // of a key the newest is the highest
    bool open = false;
    Host::Duration opened_at{0};  // this generation
    bool is_reopened = false;     // it is not the first
    bool key_taken = false;       // a newer one has its key, for good
    bool has_turn = false;
    std::optional<Reason> ended_as;
    SessionId successor;
    Belief suspended = Belief::no;
    /// When somebody last said something, in the simulation's time: at least what no crash may
    /// lose, and at most what the daemon may have heard.
    Host::Duration said_surely{0};
    Host::Duration said_at_most{0};
    /// What was acknowledged from memory, and what Ledger::used was then.
    struct Unsaved {
        Host::Duration at;
        Host::Duration used;
    };
    std::vector<Unsaved> unsaved;
    /// The last that was told to hold its reset, in this generation.
    std::optional<std::set<std::string>> told_held_by;
    bool may_be_told_again = false;  // it may not have been due in between

    ResetSubject subject() const { return {source, platform, chat_type, key}; }
};

/// Who opened a generation.
enum class Opener : std::uint8_t { client, route, child, unknown };

/// All conversations, from what was asked, answered and told.
class Conversations {
  public:
    /// A call comes into the daemon's hands.
    void note_asked(const Input& input, Host::Duration at);
    /// What was told in a step, one after the other, and then what was answered.  `used`: see
    /// Ledger.
    void note_event(const Event& event, const StepFacts& step);
    void note(const StepFacts& step, Host::Duration used);
    /// What its row says and no event does.
    void learn(const Session& row);
    /// The daemon is no more.  `flushed`: it wrote down what it knew.
    void forget_arrivals(Host::Duration used, bool flushed);

    /// These are in force from now on; those before may have been for what could not be read yet.
    void follow(PolicyBook policies);
    void forget_former_policies() { policies_.erase(policies_.begin(), policies_.end() - 1); }
    /// The policies that a session may have been under in what a step did.
    std::vector<ResetPolicy> policies_of(const Conversation& one, bool by_former) const;

    const std::map<std::string, Conversation>& all() const { return all_; }
    const Conversation* find(const SessionId& id) const;
    Opener opener_of(const Event& start, const StepFacts& step) const;
    /// Of those of a key that it was not taken from: the one that is open, and the newest.
    /// nullptr: none.
    const std::pair<const std::string, Conversation>* newest_open(const std::string& key) const;
    const std::pair<const std::string, Conversation>* newest(const std::string& key) const;
    /// The command that a session with that id is the child of; nullptr: none.
    const Command* asked_for(const SessionId& child) const;
    /// A person asked for a new conversation.
    bool may_be_reset(const SessionId& id) const;

    /// The messages that were acknowledged, by their numbers.
    const std::map<std::string, std::map<std::int64_t, Message>>& messages() const {
        return messages_;
    }

  private:
    void note_said(const Said& said, Host::Duration used);
    void note_start(const Event& event, const StepFacts& step);
    void note_key(const Event& event, Opener opener);
    void note_route(const Route& route, const RoutedReply& reply, Host::Duration at,
                    Host::Duration used);
    void note_word(const Input& input, Host::Duration at);
    void copy_messages(const SessionId& child);
    Host::Duration latest_word(const Conversation& one, const StepFacts& step) const;
    std::vector<Conversation*> named_by(const SessionId& id, const std::string& key);

    std::map<std::string, Conversation> all_;
    std::map<std::string, Host::Duration> asked_at_;  // first, of sessions to be opened
    std::set<std::string> routed_;                    // ids that were given to messages
    std::set<std::string> resumed_;                   // ids that clients resumed
    std::map<std::string, Command> children_;
    std::vector<SessionName> resets_;
    std::vector<std::pair<Input, Host::Duration>> pending_;  // not surely decided
    std::vector<PolicyBook> policies_{PolicyBook{}};         // the last of them is in force
    std::map<std::string, std::map<std::int64_t, Message>> messages_;
};

}  // namespace knell::sim
