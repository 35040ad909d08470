#pragma once

#include <cerrno>
#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <unistd.h>

#include "testing/fake_tree.hpp"
#include "watch/stopper.hpp"

namespace knell::testing {

/// Processes of a fake tree that do what they are told to do when they are signalled.
class FakeHolder final : public ProcessHolder {
  public:
    explicit FakeHolder(FakeTree& tree) : tree_(tree) {}

    class Held final : public HeldProcess {
      public:
        Held(FakeHolder& holder, pid_t pid) : holder_(holder), pid_(pid) {}
        bool has_ended() const override { return !holder_.tree_.processes.contains(pid_); }
        int signal(int number) override {
            if (holder_.belongs_to.contains(pid_)) return EPERM;
            holder_.signals[pid_].push_back(number);
            if (holder_.dies_of[pid_] == number || number == holder_.dies_of_all) {
                holder_.tree_.processes.erase(pid_);
            }
            return 0;
        }
        std::optional<uid_t> uid() const override {
            const auto other = holder_.belongs_to.find(pid_);
            return other == holder_.belongs_to.end() ? ::getuid() : other->second;
        }

      private:
        FakeHolder& holder_;
        const pid_t pid_;
    };
    std::expected<std::unique_ptr<HeldProcess>, NotHeld> hold(
        const ProcessIdentity& process) const override {
        if (out_of_descriptors) return std::unexpected(NotHeld::unreachable);
        const auto stat = tree_.stat(process.pid);
        if (!stat || stat->start_ticks != process.start_ticks) {
            return std::unexpected(NotHeld::gone);
        }
        return std::make_unique<Held>(const_cast<FakeHolder&>(*this), process.pid);
    }
    bool is_spared(const ProcessIdentity& process) const override {
        return spared.contains(process.pid);
    }

    std::map<pid_t, std::vector<int>> signals;
    std::map<pid_t, int> dies_of;
    int dies_of_all = SIGKILL;
    std::set<pid_t> spared;
    std::map<pid_t, std::optional<uid_t>> belongs_to;  // others, whose may not be signalled
    bool out_of_descriptors = false;

  private:
    FakeTree& tree_;
};

}  // namespace knell::testing
