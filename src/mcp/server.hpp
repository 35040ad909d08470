#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "mcp/protocol_version.hpp"
#include "mcp/surroundings.hpp"
#include "wire/json.hpp"

namespace knell::mcp {

/// Between here and what was read: then the pipe has to wait.
inline constexpr std::size_t waiting_messages_max = 256;
inline constexpr std::size_t waiting_bytes_max = 4U << 20U;
inline constexpr std::size_t batch_messages_max = 64;

/// An MCP server for one client: lines in, lines out.
///
/// Lines are taken with `receive` and answered in their order, one by one, with `answer_next`; in
/// between, a request that still waits can be cancelled.  A client speaks one of two dialects, and
/// each request is served in its own: up to 2025-11-25 a version is agreed on by `initialize`, from
/// 2026-07-28 on each request names it.
class Server {
  public:
    struct Options {
        std::string version;          // of knell
        std::size_t tools_page = 50;  // told by one tools/list
    };
    Server(Surroundings& surroundings, Options options)
        : surroundings_(surroundings), options_(std::move(options)) {}

    /// False: answer first.
    bool has_room() const {
        return waiting_.size() < waiting_messages_max && waiting_bytes_ < waiting_bytes_max;
    }
    /// A line without its newline.
    void receive(std::string_view line);
    /// One that was too long to be kept.
    void receive_too_long();

    bool has_work() const { return !waiting_.empty(); }
    /// The answer to the oldest message, with its newline; "" when it is to have none.
    std::string answer_next();

  private:
    struct Waiting {
        Json message;  // as it was read; null when `refusal` is all there is to say
        JsonObject refusal;
        std::size_t bytes = 0;
    };
    struct Request {
        const Json& id;
        std::string_view method;
        const JsonObject& params;
        bool is_batched = false;
    };

    void wait(Waiting waiting);
    void cancel(const JsonObject& notification);
    Json answer_batch(const JsonArray& messages);
    /// Null where there is nothing to say.
    Json answer_one(const Json& message, bool is_batched);
    JsonObject serve(const Request& request);
    JsonObject serve_in(const ProtocolVersion& version, const Request& request);
    JsonObject initialize(const Request& request);
    JsonObject discover(const ProtocolVersion& version, const Request& request) const;
    JsonObject list_tools(const ProtocolVersion& version, const Request& request) const;
    JsonObject call_tool(const ProtocolVersion& version, const Request& request);
    JsonObject own_name(const ProtocolVersion& version) const;
    JsonObject answer(const ProtocolVersion& version, const Request& request,
                      JsonObject result) const;

    Surroundings& surroundings_;
    const Options options_;
    std::deque<Waiting> waiting_;
    std::size_t waiting_bytes_ = 0;
    const ProtocolVersion* agreed_ = nullptr;  // by `initialize`
};

}  // namespace knell::mcp
