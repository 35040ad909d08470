#pragma once

#include <functional>
#include <string>
#include <vector>

namespace knell::testing {

/// One file that somebody got wrong, and what is said of it.
struct Mistake {
    std::string name;  // in words; each once
    std::string text;  // the file
    std::string said;  // a line each
};

/// Fails the test unless what `say` says of each file is what stands in the table; with
/// UPDATE_GOLDEN=1 in the environment the table is written.  Gives what is in it.
///
/// The table: "=== NAME", the file, "--- says", what is said, an empty line.
std::vector<Mistake> check_mistakes(const std::string& table,
                                    const std::function<std::string(const Mistake&)>& say);

}  // namespace knell::testing
