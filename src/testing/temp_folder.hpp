#pragma once

#include <string>

namespace knell::testing {

/// An empty folder that nobody else has; gone with this, and all that is in it.
class TempFolder {
  public:
    TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder();

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace knell::testing
