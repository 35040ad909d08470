#pragma once

#include <string>

namespace knell {

/// A config.yaml that changes nothing: every key with what it is for, its default commented out.
///
/// Without the first # of each line it is a config that is read without a problem.
std::string config_template();

}  // namespace knell
