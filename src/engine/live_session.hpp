#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/event.hpp"
#include "core/session.hpp"
#include "engine/packed_text.hpp"

namespace knell {

/// Host, boot and pid namespace of owners: the same for nearly every session of a node, so a live
/// session holds a number instead.
class Realms {
  public:
    std::uint32_t number_of(const Owner& owner);
    void fill(Owner& owner, std::uint32_t number) const;

  private:
    struct Realm {
        std::string host;
        std::string boot_id;
        std::uint64_t pid_namespace;
        bool operator==(const Realm&) const = default;
    };
    std::vector<Realm> realms_;
};

/// What the engine must know of an open session to decide; the rest is in the store.  Kept small:
/// there may be a million of these.
class LiveSession {
  public:
    LiveSession() = default;
    LiveSession(const Session& session, Realms& realms);

    std::string_view id() const { return text_.at(0); }
    Ordinal ordinal() const { return ordinal_; }
    Generation generation() const { return generation_; }
    const Tally& tally() const { return tally_; }
    std::optional<WallTime> turn_since() const;
    Owner owner(const Realms& realms) const;
    Status status() const;
    /// As fold_of(Session) would say, were it to end or be opened now.
    Fold fold(bool ended) const;

    /// An event about this session, without its number.
    Event event(EventType type, WallTime time) const;

    void set_owner(const Owner& owner, OnOwnerLoss on_owner_loss, Realms& realms);
    void set_generation(Generation generation) { generation_ = generation; }
    void set_turn(std::optional<WallTime> since);
    void set_tally(const Tally& tally) { tally_ = tally; }
    void set_last_activity(WallTime at) { last_activity_at_ = at; }

  private:
    // id, key, source, platform, user_id, parent_id
    PackedText<6> text_;
    Ordinal ordinal_ = 0;
    Tally tally_;
    WallTime last_activity_at_;
    WallTime owner_since_;
    std::int64_t turn_since_ms_ = no_turn;
    std::uint64_t start_ticks_ = 0;
    std::int32_t pid_ = 0;
    std::uint32_t lease_ttl_s_ = 0;
    std::uint32_t realm_ = 0;
    Generation generation_ = 0;
    Relation relation_ = Relation::none;
    OwnerKind owner_kind_ = OwnerKind::process;
    OnOwnerLoss on_owner_loss_ = OnOwnerLoss::end;
    bool by_machine_ = false;  // origin folds it away
    bool titled_ = false;

    static constexpr std::int64_t no_turn = INT64_MIN;
};

}  // namespace knell
