#pragma once

#include <optional>

#include "client/connection.hpp"
#include "mcp/surroundings.hpp"
#include "platform/paths.hpp"

namespace knell::cli {

/// The daemon of this home and the processes above this one, for an MCP server.  Connects when it
/// is first asked, and again when the daemon has gone meanwhile.
class McpSurroundings final : public mcp::Surroundings {
  public:
    explicit McpSurroundings(const Paths& paths) : paths_(paths) {}

    Result<JsonObject> call(std::string_view method, const JsonObject& params) override;
    Result<JsonObject> wait_until_gone(std::string_view process_id) override;
    std::string named_session() override;
    std::vector<pid_t> ancestors() override;
    std::string directory() override;
    std::string search_path() override;

  private:
    Result<void> connect();
    Result<JsonObject> call_once(std::string_view method, const JsonObject& params);

    const Paths& paths_;
    std::optional<client::Connection> connection_;
};

}  // namespace knell::cli
