#include "engine/live_session.hpp"

#include <algorithm>
#include <array>

namespace knell {

std::uint32_t OwnerHosts::number_of(const Owner& owner, std::chrono::milliseconds clock) {
    return number_of(Place{owner.host, owner.process.boot_id, owner.process.pid_namespace, clock});
}

std::uint32_t OwnerHosts::with_clock(std::uint32_t number, std::chrono::milliseconds clock) {
    auto place = owner_hosts_.at(number);
    place.clock = clock;
    return number_of(place);
}

std::uint32_t OwnerHosts::number_of(const Place& place) {
    // Newest last and nearly always the one asked for.
    const auto found = std::ranges::find(owner_hosts_.rbegin(), owner_hosts_.rend(), place);
    if (found != owner_hosts_.rend()) {
        return static_cast<std::uint32_t>(owner_hosts_.rend() - found - 1);
    }
    owner_hosts_.push_back(place);
    return static_cast<std::uint32_t>(owner_hosts_.size() - 1);
}

void OwnerHosts::fill(Owner& owner, std::uint32_t number) const {
    const auto& place = owner_hosts_.at(number);
    owner.host = place.host;
    owner.process.boot_id = place.boot_id;
    owner.process.pid_namespace = place.pid_namespace;
}

namespace {

PackedText own_text(const Session& session) {
    const PackedId id(session.id.text());
    const PackedId parent(session.parent_id.text());
    return PackedText(std::array<std::string_view, text_part_count>{
        id.bytes(), session.title, session.key, session.user_id, session.owner.command,
        parent.bytes()});
}

PackedText shared_text(std::string_view source, std::string_view cwd, std::string_view platform,
                       std::string_view chat_type) {
    return PackedText(
        std::array<std::string_view, shared_part_count>{source, cwd, platform, chat_type});
}

}  // namespace

LiveSession::LiveSession(const Session& session, OwnerHosts& owner_hosts, TextPool& texts,
                         std::chrono::milliseconds clock)
    : text_(own_text(session)),
      shared_(texts.share(
          shared_text(session.source, session.cwd, session.platform, session.chat_type))),
      ordinal_(session.ordinal),
      tally_(session.tally),
      last_seen_at_(session.last_seen_at),
      interaction_(session.last_interaction_at - clock),
      generation_(session.generation),
      relation_(session.relation),
      leftovers_(session.leftovers),
      by_machine_(is_by_machine(session.source, session.relation)),
      key_taken_(session.key_taken) {
    set_owner(session.owner, session.on_owner_loss, session.park_window, owner_hosts, clock);
    set_turn(session.turn_since);
    set_doubt(session.unknown_since, session.stalled_since);
    set_parked(session.parked_since, session.parked_before, session.park_why);
    set_former_owners(session.former_owners);
    set_attach_told(session.attach_told);
    set_detached(session.detached_since);
    set_background(session.background_since);
    set_suspended(session.suspended_at, session.suspend_why);
    set_reset_held(session.reset_held_since, session.reset_held_by, std::nullopt);
}

void LiveSession::set_text(TextPart part, std::string_view text) {
    if (this->text(part) == text) return;
    std::array<std::string_view, text_part_count> parts;
    for (std::size_t i = 0; i < parts.size(); ++i) parts.at(i) = text_.at(i);
    parts.at(static_cast<std::size_t>(part)) = text;
    text_ = PackedText(parts);
}

void LiveSession::set_cwd(std::string_view cwd, TextPool& texts) {
    if (this->cwd() == cwd) return;
    shared_ = texts.share(shared_text(source(), cwd, platform(), chat_type()));
}

void LiveSession::set_owner(const Owner& owner, OnOwnerLoss on_owner_loss,
                            std::chrono::seconds park_window, OwnerHosts& owner_hosts,
                            std::chrono::milliseconds clock) {
    owner_kind_ = owner.kind;
    owner_since_ = owner.since;
    pid_ = owner.process.pid;
    start_ticks_ = owner.process.start_ticks;
    lease_ttl_s_ = static_cast<std::uint32_t>(owner.lease_ttl.count());
    owner_host_ = owner_hosts.number_of(owner, clock);
    set_text(TextPart::command, owner.command);
    on_owner_loss_ = on_owner_loss;
    rare_.set(&Rare::park_window, park_window);
}

Owner LiveSession::owner(const OwnerHosts& owner_hosts) const {
    Owner owner;
    owner.kind = owner_kind_;
    owner.since = owner_since_;
    owner.process.pid = pid_;
    owner.process.start_ticks = start_ticks_;
    owner.lease_ttl = std::chrono::seconds{lease_ttl_s_};
    owner.command = text(TextPart::command);
    owner_hosts.fill(owner, owner_host_);
    return owner;
}

void LiveSession::set_doubt(std::optional<WallTime> unknown, std::optional<WallTime> stalled) {
    rare_.set(&Rare::unknown_since, unknown);
    rare_.set(&Rare::stalled_since, stalled);
}

void LiveSession::set_parked(std::optional<WallTime> since, std::optional<WallTime> before,
                             const std::string& why) {
    rare_.set(&Rare::parked_since, since);
    rare_.set(&Rare::parked_before, before);
    rare_.set(&Rare::park_why, why);
}

Status LiveSession::status() const {
    return status_of(StatusFacts{.ended = false,
                                 .unknown = unknown_since().has_value(),
                                 .stalled = stalled_since().has_value(),
                                 .turn = bool(turn_since_),
                                 .attached = !clients().empty(),
                                 .background = background_since().has_value(),
                                 .detached = parked_since() || is_hosted()});
}

Fold LiveSession::fold(std::optional<Reason> ended) const {
    return fold_of(FoldFacts{.by_machine = by_machine_,
                             .nothing_said = tally_.messages == 0 && text(TextPart::title).empty(),
                             .ended = ended});
}

Event LiveSession::event(EventType type, WallTime time, const OwnerHosts& owner_hosts) const {
    Event event;
    event.type = type;
    event.time = time;
    event.session_id = id();
    event.session_key = text(TextPart::key);
    event.source = text(SharedPart::source);
    event.platform = text(SharedPart::platform);
    event.user_id = text(TextPart::user_id);
    event.parent_id = parent_id();
    event.title = text(TextPart::title);
    event.cwd = cwd();
    event.command = text(TextPart::command);
    event.pid = owner_kind_ == OwnerKind::process ? pid_ : 0;
    event.host = owner_hosts.host_of(owner_host_);
    event.generation = generation_;
    event.relation = relation_;
    event.started_at = owner_since_;
    event.tally = tally_;
    return event;
}

}  // namespace knell
