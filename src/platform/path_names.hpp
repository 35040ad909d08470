#pragma once

#include <string>
#include <string_view>

namespace knell {

/// Paths as the user knows them: "$KNELL_HOME/config.yaml", "~/.config/knell/config.yaml".
class PathNames {
  public:
    /// Absolute; "" where there is none.  What is in both is named by `knell_home`.
    PathNames(std::string home, std::string knell_home)
        : home_(std::move(home)), knell_home_(std::move(knell_home)) {}
    /// Of this process: HOME, and KNELL_HOME where it is set.
    static PathNames from_environment();

    /// The text with every path in it that leads into one of the two shortened.
    std::string in(std::string_view text) const;

  private:
    std::string home_;
    std::string knell_home_;
};

}  // namespace knell
