#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "functional/harness/background.hpp"

namespace knell::functional {

/// A daemon to which messages come, and time that passes while it is down.
class WithRoutes : public WithBackground {
  protected:
    static constexpr std::string_view key = "agent:main:telegram:dm:42";

    void SetUp() override {}

    static std::string route_params(std::string_view more = {}, std::string_view to = key);
    /// A message for `to`; `more`: other parameters, as R"("platform":"telegram")".
    Json route(std::string_view more = {}, std::string_view to = key) {
        return client.must("session.route", route_params(more, to));
    }
    /// The daemon reads it when it starts, or a moment later.
    void configure(std::string_view yaml) const { write_file(home.file("config.yaml"), yaml); }
    /// The same, and it is what holds when this returns.
    void restart_with(std::string_view yaml);
    /// As if all that is on record had happened so long before, with no daemon up since.
    void let_pass(std::int64_t hours);
    /// What is on record of it, whatever its type, while no daemon is up.
    void edit(const std::string& sql) const;
    /// The events of that type; of that session, unless it is "".
    std::vector<Json> told(std::string_view type, std::string_view of = {});
};

}  // namespace knell::functional
