#pragma once

#include <string>
#include <string_view>

#include "core/background_process.hpp"

namespace knell::sqlite {

/// A background process in one column, for events: nearly all of them say nothing of one, and each
/// column costs each event.  The columns of its row (columns.hpp), a line each as in
/// word_lines.hpp; an empty line is NULL, and so is what an older version did not write.
std::string to_text(const BackgroundProcess& process);
BackgroundProcess process_from_text(std::string_view text);

}  // namespace knell::sqlite
