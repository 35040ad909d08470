#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ledger.hpp"
#include "writer/spool_replay.hpp"
#include "writer/write_step.hpp"

namespace knell::sim {

/// The folder of what was written down while no daemon could be reached, and the daemon's real
/// replay of it.  The files outlive the daemon; a name that was deleted may be there again after
/// the power was cut, because nobody waits for that to reach the disk.
class Spool final : public SpoolAtStart {
  public:
    /// `knell run` adds lines to the file of its session, all or none.
    void append(const std::string& name, std::vector<Command> lines);
    bool holds(const std::string& name) const { return files_.contains(name); }
    /// Nobody can add to it, or it is taken in right now.
    bool is_locked(const std::string& name) const { return under_way_.contains(name); }
    const std::map<std::string, std::vector<Command>>& files() const { return files_; }
    const std::map<std::string, std::vector<Command>>& set_aside() const { return bad_; }

    /// While the daemon starts: files of open sessions.  Those that it deleted by that are in
    /// `delivered_at_start` afterwards.
    void take_in(const IsOpen& is_open, const Say& say) override;
    std::vector<std::string> take_delivered_at_start() {
        return std::exchange(delivered_at_start_, {});
    }

    /// The daemon looks what is there.
    void look();
    struct Call {
        std::string name;
        Command command;
    };
    /// What it says of that by now.  `delivered` gets the names of the files that it deleted.
    std::vector<Call> take_calls(std::vector<std::string>& delivered);
    void take_answer(const std::string& name, const Result<Reply>& reply);

    void crash() { under_way_.clear(); }
    void lose_power(std::uint64_t seed);

  private:
    /// What became of a file whose replay is over.
    bool settle(const std::string& name, const SpoolReplay::Next& verdict);

    struct UnderWay {
        SpoolReplay replay;
        bool is_asked = false;  // and waits for the answer
    };
    std::map<std::string, std::vector<Command>> files_;
    std::map<std::string, std::vector<Command>> deleted_;  // since the disk was last quiet
    std::map<std::string, std::vector<Command>> bad_;
    std::map<std::string, UnderWay> under_way_;
    std::vector<std::string> delivered_at_start_;
};

}  // namespace knell::sim
