#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/webhook_spec.hpp"
#include "core/retention.hpp"
#include "deliver/courier.hpp"
#include "deliver/hook_spec.hpp"
#include "platform/paths.hpp"

namespace knell {

/// Who is to hear events: the hook directories and the webhooks of the config, as last read.
class Roster {
  public:
    struct Problem {
        std::string name;     // of the hook or webhook, or of the file
        std::string message;  // file, line, what is wrong, what to do

        bool operator==(const Problem&) const = default;
    };

    /// Reads both anew.  What is malformed is a problem and leaves the others alone; a config that
    /// cannot be read leaves the webhooks as they were.  Gives the problems that are new.
    std::vector<Problem> reload(const Paths& paths);

    std::vector<Terms> terms() const;
    const HookSpec* hook(const std::string& name) const;
    const WebhookSpec* webhook(const std::string& name) const;
    const std::vector<Problem>& problems() const { return problems_; }
    const Retention& retention() const { return retention_; }

  private:
    void reload_webhooks(const Paths& paths);
    void reload_hooks(const Paths& paths);

    std::map<std::string, HookSpec> hooks_;
    std::map<std::string, WebhookSpec> webhooks_;
    std::vector<Problem> problems_;
    Retention retention_;
};

}  // namespace knell
