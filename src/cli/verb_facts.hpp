#pragma once

#include <string_view>

namespace knell::cli {

/// What the table of verbs says of one.
struct VerbFacts {
    std::string_view name;
    std::string_view usage;  // what follows the name
    std::string_view group;
    std::string_view summary;
};

}  // namespace knell::cli
