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

Needs needs_of(const Input& input) {
    if (subject_of(input) == nullptr) return Needs::nothing;
    if (as<Label>(input) != nullptr) return Needs::row;
    if (as<Named>(input) != nullptr) return Needs::nothing;
    const auto* create = as<Create>(input);
    return create != nullptr && create->fresh_id ? Needs::nothing : Needs::past;
}

}  // namespace knell
