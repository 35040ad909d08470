#pragma once

#include <string>
#include <vector>

#include "pictures.hpp"
#include "report.hpp"
#include "wire/json.hpp"

namespace knell::bench {

/// docs/benchmarks.md, whole: nothing in it is written by hand, so that it cannot disagree with
/// the run it tells of.  Chapters without figures are left out.
std::string to_markdown(const JsonObject& machine, const Report& report,
                        const std::vector<Picture>& pictures);

}  // namespace knell::bench
