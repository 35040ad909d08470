#pragma once

#include <array>
#include <string>

#include <sys/types.h>

namespace knell::testing {

/// A process of its own that has a file open for as long as this lives.
class HeldFile {
  public:
    explicit HeldFile(const std::string& path);
    ~HeldFile();
    HeldFile(const HeldFile&) = delete;
    HeldFile& operator=(const HeldFile&) = delete;

    pid_t pid() const { return pid_; }

  private:
    std::array<int, 2> leave_{};
    pid_t pid_ = 0;
};

}  // namespace knell::testing
