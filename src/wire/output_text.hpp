#pragma once

#include <string>
#include <string_view>

/// Bytes that a program wrote, as text for JSON.
namespace knell::wire {

/// The same, with U+FFFD for each byte that is part of no letter.
std::string to_utf8(std::string_view bytes);

/// How many bytes at the end are the beginning of a letter whose rest may follow; 0 to 3.
std::size_t unfinished_bytes(std::string_view bytes);

/// How many bytes at the beginning can only be the rest of a letter that began before; 0 to 3.
std::size_t headless_bytes(std::string_view bytes);

}  // namespace knell::wire
