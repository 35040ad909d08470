#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config_holder.hpp"
#include "config/webhook_spec.hpp"
#include "deliver/delivery_scheduler.hpp"
#include "deliver/hook/spec.hpp"

namespace knell {

/// Who is to hear events: the hook directories and the webhooks of the config, as last read.
class SubscriberConfig {
  public:
    struct Problem {
        std::string name;     // of the hook or webhook, or of the file
        std::string message;  // file, line, what is wrong, what to do; paths as the user knows them
        FileProblem what;     // the same

        bool operator==(const Problem&) const = default;
    };

    /// Takes the webhooks of the config that is in force and reads the hooks anew.  What is
    /// malformed is a problem and leaves the others alone.  Gives the problems that are new.
    std::vector<Problem> reload(const ConfigHolder::Reload& config, const std::string& hooks_dir);

    std::vector<SubscriberSpec> specs() const;
    const HookSpec* hook(const std::string& name) const;
    const WebhookSpec* webhook(const std::string& name) const;
    const std::vector<Problem>& problems() const { return problems_; }
    /// Those of hooks alone: what is wrong with config.yaml is in its Reload.
    std::vector<FileProblem> hook_problems() const;

  private:
    void add(std::string name, FileProblem what);
    void take_webhooks(const ConfigHolder::Reload& config);
    void reload_hooks(const std::string& hooks_dir);

    std::map<std::string, HookSpec> hooks_;
    std::shared_ptr<const Config> config_;
    std::map<std::string, const WebhookSpec*> webhooks_;  // of config_
    std::vector<Problem> problems_;
};

}  // namespace knell
