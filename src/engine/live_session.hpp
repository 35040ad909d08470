#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/event.hpp"
#include "core/limits.hpp"
#include "core/session.hpp"
#include "engine/packed_id.hpp"
#include "engine/packed_text.hpp"
#include "engine/rare_state.hpp"
#include "engine/text_pool.hpp"

namespace knell {

/// Host, boot and pid namespace of owners, and how the wall clock stood when they began: the same
/// for nearly every session of a node, so a live session holds a number instead.
class OwnerHosts {
  public:
    /// `clock`: see State::time_for.
    std::uint32_t number_of(const Owner& owner, std::chrono::milliseconds clock);
    void fill(Owner& owner, std::uint32_t number) const;
    const std::string& host_of(std::uint32_t number) const { return owner_hosts_.at(number).host; }
    std::chrono::milliseconds clock_of(std::uint32_t number) const {
        return owner_hosts_.at(number).clock;
    }
    /// The same but for the clock.
    std::uint32_t with_clock(std::uint32_t number, std::chrono::milliseconds clock);

  private:
    struct Place {
        std::string host;
        std::string boot_id;
        std::uint64_t pid_namespace;
        std::chrono::milliseconds clock;
        bool operator==(const Place&) const = default;
    };
    std::uint32_t number_of(const Place& place);

    std::vector<Place> owner_hosts_;
};

/// Where a session stands among those of its owner process.  Kept by OwnerTable.
struct OwnerLink {
    std::uint32_t owner = UINT32_MAX;
    std::uint32_t previous = UINT32_MAX;
    std::uint32_t next = UINT32_MAX;
};

/// Something that began at a time, or not.
class Since {
  public:
    Since() = default;
    explicit Since(std::optional<WallTime> at) : millis_(at ? to_millis(*at) : never) {}
    explicit operator bool() const { return millis_ != never; }
    std::optional<WallTime> get() const {
        if (millis_ == never) return std::nullopt;
        return from_millis(millis_);
    }

  private:
    static constexpr std::int64_t never = INT64_MIN;  // half the size of std::optional
    std::int64_t millis_ = never;
};

/// The texts of a live session alone, and those that it has in common with many others.  What is
/// seldom there comes last; see PackedText.
enum class TextPart : std::uint8_t { id, title, key, user_id, command, parent_id };
inline constexpr std::size_t text_part_count = static_cast<std::size_t>(TextPart::parent_id) + 1;
enum class SharedPart : std::uint8_t { source, cwd, platform, chat_type };
inline constexpr std::size_t shared_part_count =
    static_cast<std::size_t>(SharedPart::chat_type) + 1;

/// What the engine must know of an open session to decide; the rest is in the store.  Kept small:
/// there may be a million of these.
class LiveSession {
  public:
    LiveSession() = default;
    LiveSession(const Session& session, OwnerHosts& owner_hosts, TextPool& texts,
                std::chrono::milliseconds clock);

    SessionId id() const { return PackedId::unpack(packed_id()); }
    /// As PackedId packs it.
    std::string_view packed_id() const { return text(TextPart::id); }
    Ordinal ordinal() const { return ordinal_; }
    Generation generation() const { return generation_; }
    const Tally& tally() const { return tally_; }
    std::optional<WallTime> turn_since() const { return turn_since_.get(); }
    std::optional<WallTime> unknown_since() const { return rare_.get().unknown_since; }
    std::optional<WallTime> stalled_since() const { return rare_.get().stalled_since; }
    std::optional<WallTime> parked_since() const { return rare_.get().parked_since; }
    /// By when the owner of a parked one was gone, and how it went, as far as that is on record.
    std::optional<WallTime> parked_before() const { return rare_.get().parked_before; }
    const std::string& park_why() const { return rare_.get().park_why; }
    WallTime last_seen_at() const { return last_seen_at_; }
    OwnerKind owner_kind() const { return owner_kind_; }
    bool has_lease() const { return lease_ttl_s_ != 0; }
    std::chrono::seconds lease_ttl() const { return std::chrono::seconds{lease_ttl_s_}; }
    bool is_hosted() const { return owner_kind_ == OwnerKind::hosted; }
    /// Clients that look at it.
    const std::vector<ClientId>& clients() const { return rare_.get().clients; }
    bool has_client(ClientId client) const {
        return std::ranges::find(clients(), client) != clients().end();
    }
    void set_clients(std::vector<ClientId> clients) {
        rare_.set(&Rare::clients, std::move(clients));
    }
    std::optional<WallTime> detached_since() const { return rare_.get().detached_since; }
    void set_detached(std::optional<WallTime> since) { rare_.set(&Rare::detached_since, since); }
    bool is_attach_told() const { return rare_.get().attach_told; }
    void set_attach_told(bool told) { rare_.set(&Rare::attach_told, told); }
    /// When it is told that the last client has gone, unless one comes back.
    SteadyTime tell_detach_at() const { return rare_.get().tell_detach_at; }
    void set_tell_detach_at(SteadyTime at) { rare_.set(&Rare::tell_detach_at, at); }
    /// Who began the turn, or said so again, and are still there: each of them holds it.
    const std::vector<ClientId>& turn_clients() const { return rare_.get().turn_clients; }
    bool has_turn_client(ClientId client) const {
        return std::ranges::find(turn_clients(), client) != turn_clients().end();
    }
    void set_turn_clients(std::vector<ClientId> clients) {
        rare_.set(&Rare::turn_clients, std::move(clients));
    }
    void set_turn_window(std::chrono::seconds window) { rare_.set(&Rare::turn_window, window); }
    /// For how long a turn holds it whose clients are gone.
    std::chrono::seconds turn_window() const {
        const auto window = rare_.get().turn_window;
        return window.count() > 0 ? window : limits::turn_window_default;
    }
    /// Since when one of its background processes is work that counts.
    std::optional<WallTime> background_since() const { return rare_.get().background_since; }
    void set_background(std::optional<WallTime> since) {
        rare_.set(&Rare::background_since, since);
    }
    /// A hosted session that somebody, or background work, is there for.
    bool is_held() const {
        return !clients().empty() || (turn_since() && !turn_clients().empty()) ||
               background_since();
    }
    /// Somebody last said something to it, by the clock on the wall as if that had never been set
    /// (State::unset): how long ago that was must not depend on how the clock was set since.
    WallTime interaction() const { return interaction_; }
    /// `unsaved`: it is not in the store yet.
    void set_interaction(WallTime unset, bool unsaved) {
        interaction_ = unset;
        interaction_unsaved_ = unsaved;
    }
    bool is_interaction_unsaved() const { return interaction_unsaved_; }
    /// The next message begins a new conversation.
    std::optional<WallTime> suspended_at() const { return rare_.get().suspended_at; }
    const std::string& suspend_why() const { return rare_.get().suspend_why; }
    void set_suspended(std::optional<WallTime> at, const std::string& why) {
        rare_.set(&Rare::suspended_at, at);
        rare_.set(&Rare::suspend_why, why);
    }
    /// Its reset is due and held back, by these processes.
    std::optional<WallTime> reset_held_since() const { return rare_.get().reset_held_since; }
    const std::vector<ProcessId>& reset_held_by() const { return rare_.get().reset_held_by; }
    /// When the first of them can hold it no longer, as far as that was looked at.
    std::optional<WallTime> reset_look_again_at() const { return rare_.get().reset_look_again_at; }
    void set_reset_held(std::optional<WallTime> since, std::vector<ProcessId> by,
                        std::optional<WallTime> look_again_at) {
        rare_.set(&Rare::reset_held_since, since);
        rare_.set(&Rare::reset_held_by, std::move(by));
        rare_.set(&Rare::reset_look_again_at, look_again_at);
    }
    OnOwnerLoss on_owner_loss() const { return on_owner_loss_; }
    std::chrono::seconds park_window() const { return rare_.get().park_window; }
    LeftoversPolicy leftovers() const { return leftovers_; }
    Owner owner(const OwnerHosts& owner_hosts) const;
    /// This generation began.
    WallTime owner_since() const { return owner_since_; }
    std::uint32_t owner_host() const { return owner_host_; }
    void set_owner_host(std::uint32_t number) { owner_host_ = number; }
    Status status() const;
    /// When something is to be decided about it, on the awake clock; never: `no_deadline`.
    SteadyTime deadline() const { return deadline_; }
    static constexpr SteadyTime no_deadline = SteadyTime::max();
    /// The same or, if that is sooner, when something is to be told of it.
    SteadyTime next_deadline() const { return std::min(deadline_, tell_detach_at()); }
    /// Its last signs of life are not in the store yet.
    bool is_seen_unsaved() const { return seen_unsaved_; }
    /// As fold_of(Session) would say, were it to end for that reason, or be open.
    Fold fold(std::optional<Reason> ended) const;

    SessionId parent_id() const { return PackedId::unpack(text(TextPart::parent_id)); }
    std::string_view key() const { return text(TextPart::key); }
    std::string_view title() const { return text(TextPart::title); }
    std::string_view user_id() const { return text(TextPart::user_id); }
    std::string_view source() const { return text(SharedPart::source); }
    std::string_view platform() const { return text(SharedPart::platform); }
    std::string_view chat_type() const { return text(SharedPart::chat_type); }
    std::string_view cwd() const { return text(SharedPart::cwd); }
    std::string_view command() const { return text(TextPart::command); }

    /// An event about this session, without its number.
    Event event(EventType type, WallTime time, const OwnerHosts& owner_hosts) const;

    void set_owner(const Owner& owner, OnOwnerLoss on_owner_loss, std::chrono::seconds park_window,
                   OwnerHosts& owner_hosts, std::chrono::milliseconds clock);
    void set_leftovers(LeftoversPolicy leftovers) { leftovers_ = leftovers; }
    /// The process that orphans of the command are handed to, as long as the daemon that saw it
    /// lives.
    const Reaper& reaper() const { return rare_.get().reaper; }
    void set_reaper(const Reaper& reaper, bool is_parent) {
        rare_.set(&Rare::reaper, reaper);
        rare_.set(&Rare::reaper_is_parent, is_parent);
    }
    bool reaper_is_parent() const { return rare_.get().reaper_is_parent; }
    /// Whether that process is the command's parent and so sees how it ends.
    bool is_parent(const ProcessIdentity& process) const {
        return rare_.get().reaper_is_parent && Reaper{process.pid, process.start_ticks} == reaper();
    }
    /// That owned earlier generations, as far as is known.
    const std::vector<ProcessIdentity>& former_owners() const { return rare_.get().former_owners; }
    void set_former_owners(const std::vector<ProcessIdentity>& processes) {
        rare_.set(&Rare::former_owners, processes);
    }
    void set_generation(Generation generation) { generation_ = generation; }
    void set_title(std::string_view title) { set_text(TextPart::title, title); }
    void set_cwd(std::string_view cwd, TextPool& texts);
    void set_turn(std::optional<WallTime> since) { turn_since_ = Since(since); }
    void set_tally(const Tally& tally) { tally_ = tally; }
    void set_doubt(std::optional<WallTime> unknown, std::optional<WallTime> stalled);
    void set_parked(std::optional<WallTime> since, std::optional<WallTime> before,
                    const std::string& why);
    void set_deadline(SteadyTime deadline) { deadline_ = deadline; }
    bool is_key_taken() const { return key_taken_; }
    void set_key_taken(bool is_taken) { key_taken_ = is_taken; }
    /// Its time began before this daemon did, and no sign of life has come since: the first one
    /// must be on record, or the next daemon would not know of it.
    bool is_silent_since_start() const { return silent_since_start_; }
    void set_silent_since_start(bool silent) { silent_since_start_ = silent; }
    /// An earlier daemon opened this generation, and watched its owner.
    bool is_adopted() const { return adopted_; }
    void set_adopted(bool adopted) { adopted_ = adopted; }
    void set_seen(WallTime at, bool unsaved) {
        last_seen_at_ = at;
        seen_unsaved_ = unsaved;
    }
    OwnerLink& owner_link() { return owner_link_; }
    const OwnerLink& owner_link() const { return owner_link_; }

  private:
    std::string_view text(TextPart part) const { return text_.at(static_cast<std::size_t>(part)); }
    std::string_view text(SharedPart part) const {
        return shared_.at(static_cast<std::size_t>(part));
    }
    void set_text(TextPart part, std::string_view text);

    PackedText text_;
    PackedText shared_;
    Ordinal ordinal_ = 0;
    Tally tally_;
    WallTime last_seen_at_;
    WallTime interaction_;
    WallTime owner_since_;
    Since turn_since_;
    SteadyTime deadline_ = no_deadline;
    std::uint64_t start_ticks_ = 0;
    RareState rare_;
    OwnerLink owner_link_;
    std::int32_t pid_ = 0;
    std::uint32_t lease_ttl_s_ = 0;
    std::uint32_t owner_host_ = 0;
    Generation generation_ = 0;
    Relation relation_ = Relation::none;
    OwnerKind owner_kind_ = OwnerKind::process;
    OnOwnerLoss on_owner_loss_ = OnOwnerLoss::end;
    LeftoversPolicy leftovers_ = LeftoversPolicy::none;
    bool by_machine_ : 1 = false;  // origin folds it away
    bool key_taken_ : 1 = false;   // see Session
    bool seen_unsaved_ : 1 = false;
    bool interaction_unsaved_ : 1 = false;
    bool silent_since_start_ : 1 = false;
    bool adopted_ : 1 = false;
};
static_assert(sizeof(LiveSession) <= 144);

}  // namespace knell
