#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace knell {

/// The known word that `word` was probably meant to be: within two slips of the keyboard, and not
/// more than a third of its letters.  "" when there is none.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace knell
