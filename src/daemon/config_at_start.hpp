#pragma once

#include "config/config_holder.hpp"
#include "platform/paths.hpp"
#include "writer/writer.hpp"

namespace knell {

/// `knell up --strict`: whether config.yaml is without an error; says what is wrong, all of it.
bool is_config_right(const Paths& paths);

/// A daemon that starts with errors in its config.yaml keeps the record all the same, and must be
/// heard to do so with less than was wanted: in the log, and by a notice on record.
void tell_of_config(const ConfigHolder& config, Writer& writer);

}  // namespace knell
