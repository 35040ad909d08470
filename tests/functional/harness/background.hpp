#pragma once

#include <optional>
#include <string>
#include <vector>

#include "functional/harness/owners.hpp"

namespace knell::functional {

/// A word as JSON has it.
std::string json_word(std::string_view word);

/// A daemon, a session in it, and background processes of that.
class WithBackground : public WithOwners {
  protected:
    void SetUp() override { session = create(); }
    /// What runs is ended: nothing of a test outlives it.
    void TearDown() override;

    /// `more`: other parameters, as R"("title":"t")".
    std::string start_params(const std::vector<std::string>& argv, const std::string& more = {});
    /// The row of a process that runs.
    Json start(const std::vector<std::string>& argv, const std::string& more = {}) {
        return client.must("process.start", start_params(argv, more));
    }
    Json start_shell(const std::string& script) { return start({"sh", "-c", script}); }
    Json row(const std::string& id) {
        return client.must("process.show", R"({"process_id":")" + id + R"("})");
    }
    Json stop(const std::string& id) {
        return client.must("process.stop", R"({"process_id":")" + id + R"("})");
    }
    /// All of the session, also those that have ended.
    std::vector<Json> rows();
    /// All that it wrote and is kept; `after` of the page is where it begins.
    Json output(const std::string& id, const std::string& more = R"("after":0)");
    void until_it_wrote(const std::string& id, const std::string& text);
    /// Waits until its exit is on record and gives the row.
    Json exited(const std::string& id);
    /// "exited 3", "signaled 15", "lost".
    static std::string how(const Json& row);

    std::string session;
};

inline std::string id_of(const Json& row) {
    return text(row, "process_id");
}
inline pid_t pid_of(const Json& row) {
    return static_cast<pid_t>(number(row, "pid"));
}

}  // namespace knell::functional
