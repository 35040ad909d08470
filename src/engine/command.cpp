#include "engine/command.hpp"

namespace knell {

namespace {

const SessionId* id_in(const Create& create) {
    return &create.draft.id;
}
const SessionId* id_in(const Heartbeat&) {
    return nullptr;
}
const SessionId* id_in(const OwnerGone&) {
    return nullptr;
}
const SessionId* id_in(const OwnerUnknown&) {
    return nullptr;
}
const SessionId* id_in(const OwnerAlive&) {
    return nullptr;
}
const SessionId* id_in(const Survey&) {
    return nullptr;
}
const SessionId* id_in(const Announce&) {
    return nullptr;
}
const SessionId* id_in(const SaveDeliveries&) {
    return nullptr;
}
const SessionId* id_in(const auto& command) {
    return &command.session_id;
}

}  // namespace

const SessionId* subject_of(const Command& command) {
    return std::visit([](const auto& c) { return id_in(c); }, command);
}

Needs needs_of(const Command& command) {
    if (subject_of(command) == nullptr) return Needs::nothing;
    if (std::holds_alternative<Label>(command)) return Needs::row;
    const auto* create = std::get_if<Create>(&command);
    return create != nullptr && create->fresh_id ? Needs::nothing : Needs::past;
}

}  // namespace knell
