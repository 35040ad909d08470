#pragma once

#include <string>

#include "rpc/backend.hpp"
#include "writer/write_step.hpp"

namespace knell {

/// The files of open sessions, taken in one after another while nobody waits yet.  The others are
/// left to SpoolIntake: they may be many.
class OpenSessionsSpool final : public SpoolAtStart {
  public:
    OpenSessionsSpool(std::string spool_dir, rpc::Surroundings& here)
        : spool_dir_(std::move(spool_dir)), here_(here) {}

    void take_in(const IsOpen& is_open, const Say& say) override;

  private:
    const std::string spool_dir_;
    rpc::Surroundings& here_;  // in which what is written is understood
};

}  // namespace knell
