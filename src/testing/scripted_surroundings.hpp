#pragma once

#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mcp/surroundings.hpp"

namespace knell::testing {

/// A daemon that answers an MCP server as a test tells it to, and notes what it was asked.
class ScriptedSurroundings final : public mcp::Surroundings {
  public:
    /// The answer to the next call, a JSON object.
    void answers(std::string_view json) {
        answers_.emplace_back(wire::parse_json(json).value().as_object());
    }
    void refuses(ErrorCode code, std::string message) {
        answers_.emplace_back(fail(code, std::move(message)));
    }

    Result<JsonObject> call(std::string_view method, const JsonObject& params) override {
        return take(std::string(method) + " " + wire::to_text(params));
    }
    Result<JsonObject> wait_until_gone(std::string_view process_id) override {
        return take("wait " + std::string(process_id));
    }
    std::string named_session() override { return session; }
    std::vector<pid_t> ancestors() override { return above; }
    std::string directory() override { return cwd; }
    std::string search_path() override { return path; }

    std::string session;
    std::vector<pid_t> above;
    std::string cwd;
    std::string path;
    std::vector<std::string> asked;  // "process.list {...}"

  private:
    Result<JsonObject> take(std::string call) {
        asked.push_back(std::move(call));
        if (answers_.empty()) throw std::runtime_error("no answer to " + asked.back());
        auto answer = std::move(answers_.front());
        answers_.pop_front();
        return answer;
    }

    std::deque<Result<JsonObject>> answers_;
};

}  // namespace knell::testing
