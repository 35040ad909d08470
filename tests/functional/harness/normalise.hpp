#pragma once

#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace knell::functional {

/// Takes out of a transcript what differs from run to run: times, ids, pids, paths, sizes, versions
/// and the widths of columns that hold them.  One object a transcript, so that an id keeps its
/// number: <id1>, <id2>, …
class Normaliser {
  public:
    explicit Normaliser(std::string home);

    /// One line.
    std::string operator()(std::string line);

  private:
    struct Rule {
        std::regex pattern;
        std::string replacement;
    };
    std::string number_ids(const std::string& line);

    const std::string home_;
    const std::vector<Rule> rules_;
    std::map<std::string, std::size_t> ids_;
};

}  // namespace knell::functional
