#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "core/blocker.hpp"
#include "core/end.hpp"
#include "core/ids.hpp"
#include "core/owner.hpp"
#include "core/status.hpp"

namespace knell {

/// Every way a call can fail.  wire/error_table.hpp maps each to its JSON-RPC code and exit status.
enum class ErrorCode : std::uint8_t {
    parse_error,
    invalid_request,
    method_not_found,
    invalid_params,
    internal,
    not_found,
    owned,
    fenced,
    blocked,
    ended,
    unauthorized,
    limit,
    storage,      // the disk said no; nothing was acknowledged
    unreachable,  // no daemon answers
};

/// What the caller needs to act on the error.
struct OwnedBy {
    Owner owner;
    Generation generation = 0;
    Status status = Status::idle;
    std::string how_known;
    std::vector<ProcessIdentity> former_owners;
};
struct FencedBy {
    Generation generation = 0;
};
struct EndedAs {
    Reason reason = Reason::completed;
    WallTime ended_at;
    Generation generation = 0;
    ProcessIdentity process;  // that owned it, for those who ask whether it was theirs
    std::vector<ProcessIdentity> former_owners;  // of earlier generations
    SessionId successor{};                       // that goes on in its place; empty: there is none
};
/// Background work is in the way.
struct BlockedBy {
    std::vector<Blocker> blockers;
};
/// It waits for its next owner: nobody may write to it until somebody claims it.
struct Unowned {
    WallTime since;
    Generation generation = 0;
    Status status = Status::detached;
};
using ErrorFacts = std::variant<std::monostate, OwnedBy, FencedBy, EndedAs, BlockedBy, Unowned>;

struct Error {
    ErrorCode code = ErrorCode::internal;
    std::string message;  // what happened, to what, what to do next
    std::string field;    // the offending parameter, where there is one
    ErrorFacts facts;
};

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
    return std::unexpected(Error{code, std::move(message), {}, {}});
}
inline std::unexpected<Error> fail(ErrorCode code, std::string message, ErrorFacts facts) {
    return std::unexpected(Error{code, std::move(message), {}, std::move(facts)});
}
inline std::unexpected<Error> bad_field(std::string field, std::string message) {
    return std::unexpected(
        Error{ErrorCode::invalid_params, field + ": " + std::move(message), std::move(field), {}});
}

}  // namespace knell
