#include "engine/input.hpp"

namespace knell {

namespace {

template <typename Named>
const SessionId* id_in(const Named& named) {
    if constexpr (requires { named.session_id; }) {
        return &named.session_id;
    } else {
        return nullptr;
    }
}
const SessionId* id_in(const Create& create) {
    return &create.draft.id;
}
const SessionId* id_in(const RecordProcess& record) {
    return &record.draft.session_id;
}
const SessionId* id_in(const Reset& reset) {
    return reset.name.session_id.empty() ? nullptr : &reset.name.session_id;
}
const SessionId* id_in(const Suspend& suspend) {
    return suspend.name.session_id.empty() ? nullptr : &suspend.name.session_id;
}
const SessionId* id_in(const ReportTools& reports) {
    return reports.session_id.empty() ? nullptr : &reports.session_id;
}
const SessionId* id_in(const SaveDeliveries&) {
    return nullptr;
}
template <typename... Kinds>
const SessionId* id_in(const std::variant<Kinds...>& one) {
    return std::visit([](const auto& named) { return id_in(named); }, one);
}

}  // namespace

const SessionId* subject_of(const Input& input) {
    return id_in(input);
}

const std::string* key_of(const Input& input) {
    if (const auto* route = as<Route>(input)) return &route->draft.key;
    if (subject_of(input) != nullptr) return nullptr;
    if (const auto* reset = as<Reset>(input)) return &reset->name.key;
    if (const auto* suspend = as<Suspend>(input)) return &suspend->name.key;
    return nullptr;
}

Needs needs_of(const Input& input) {
    if (key_of(input) != nullptr) return Needs::tip;
    if (subject_of(input) == nullptr) return Needs::nothing;
    if (as<Label>(input) != nullptr) return Needs::row;
    // What a child takes over is not all in memory.
    if (as<Branch>(input) != nullptr || as<Compress>(input) != nullptr) return Needs::row;
    if (as<Named>(input) != nullptr) return Needs::nothing;
    const auto* create = as<Create>(input);
    return create != nullptr && create->fresh_id ? Needs::nothing : Needs::past;
}

}  // namespace knell
