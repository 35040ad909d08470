#pragma once

#include <span>
#include <string_view>

#include "rpc/attachments.hpp"
#include "rpc/backend.hpp"
#include "rpc/call_order.hpp"
#include "rpc/caller.hpp"
#include "rpc/stream.hpp"
#include "wire/given.hpp"

namespace knell::rpc {

struct Call {
    JsonObject params;
    Caller caller;
    Respond respond;
    Stream* stream = nullptr;  // while the method runs; null where only answers can be sent
    wire::FieldTrace* trace = nullptr;  // a test wants to know what is read
    CallOrder& order;
    Attachments& attachments;
    CallOrder::Place place;
};

/// What a call gives of a method's rows.
template <const auto& table>
wire::Given<table> given_of(const Call& call) {
    return wire::Given<table>(call.params, call.trace);
}

/// One method: what it takes, what it answers, what it does.
struct Method {
    std::string_view name;
    std::string_view summary;
    std::span<const wire::Field> params;
    std::span<const wire::Field> result;
    void (*run)(Call&& call, Backend& backend);
    /// Whether it makes a change at once, in the order of its connection's calls.  One that has to
    /// look at something before keeps its place itself (`after_a_look`).
    bool is_ordered = false;
    Access access = Access::full;  // what a caller needs
};

}  // namespace knell::rpc
