#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "rpc/backend.hpp"
#include "rpc/caller.hpp"
#include "rpc/stream.hpp"
#include "wire/envelope.hpp"

namespace knell::rpc {

struct Param {
    std::string_view name;
    std::string_view type;
    bool required;
    std::string_view about;
};

struct Call {
    JsonObject params;
    Caller caller;
    Respond respond;
    Stream* stream = nullptr;  // while the method runs; null where only answers can be sent
};

/// One row of the table of methods.
struct Method {
    std::string_view name;
    std::string_view summary;
    std::span<const Param> params;
    void (*run)(Call&& call, Backend& backend);
};

/// Every method there is, in one place.
std::span<const Method> methods();

/// Finds the method of a line and runs it.  Knows no sockets; one thread.
class Dispatcher {
  public:
    explicit Dispatcher(Backend& backend) : backend_(backend) {}

    /// Who connected.  `pidfd` (or -1) is the kernel's handle of that very process: while it lives,
    /// what /proc says under its pid is about it and nobody else.
    Caller identify(pid_t pid, uid_t uid, int pidfd) const;

    /// `reply` gets the answer line exactly once, now or later, on this thread; a notification gets
    /// an empty one.
    void handle(std::string_view line, const Caller& caller,
                std::move_only_function<void(std::string)> reply, Stream* stream = nullptr);

    /// Answers a line without doing what it asks.
    void refuse(std::string_view line, const Error& why,
                std::move_only_function<void(std::string)> reply) const;

    /// That connection is closed: what it only wanted to know is not looked up any more.
    void hung_up(ConnectionId connection) { backend_.drop_reads(connection); }

  private:
    Backend& backend_;
};

}  // namespace knell::rpc
