#pragma once

#include <string>
#include <string_view>

namespace knell::cli {

/// Makes output of programs nobody has vouched for fit to be shown on a terminal, piece by piece:
/// text, line breaks, tabs and colours stay.  Everything else that a terminal would obey (moving
/// the cursor, titles, the clipboard, questions it answers) is shown instead: ESC as ^[, other
/// control characters alike; what is no UTF-8, and characters that turn the direction, as '?'.  A
/// carriage return begins a new line: nothing can be written over.  Pure.
class HarmlessText {
  public:
    /// What can be shown by now: a character or colour that is cut in two waits for the next piece.
    std::string add(std::string_view bytes);
    /// What still waits, and the end of a colour that was left on.
    std::string finish();

  private:
    /// Bytes of `pending_` that were dealt with, 0 when more are needed.
    std::size_t take_one(std::string_view bytes, bool is_last, std::string& shown);
    std::size_t take_escape(std::string_view bytes, bool is_last, std::string& shown);

    std::string pending_;
    bool was_return_ = false;  // a newline behind it is the same line break
    bool coloured_ = false;
};

}  // namespace knell::cli
