#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "functional/harness/process.hpp"
#include "functional/harness/temp_home.hpp"

namespace knell::functional {

/// `knell events --follow ...` with its output in a pipe.
class Following {
  public:
    Following(const TempHome& home, std::vector<std::string> more);

    /// Without its newline; throws at the end.
    std::string line();
    std::int64_t seq();
    void hang_up() { pipe_.reading.reset(); }
    Process& process() { return *process_; }

  private:
    Pipe pipe_;
    std::string said_;
    std::optional<Process> process_;
};

}  // namespace knell::functional
