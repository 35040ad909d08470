#pragma once

#include <string_view>

#include "core/error.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// To standard output.  A failed write is found by finish_output, once, at the end.
void print(std::string_view text);
void print_line(std::string_view text);
void print_json(const Json& value);

/// To standard error, for people: what is not the answer itself.
void note(std::string_view text);

/// "knell VERB: MESSAGE" to standard error; gives exit_failed, so that a verb can return it.
int complain(std::string_view verb, std::string_view message);
int complain(std::string_view verb, const Error& error);

/// Flushes standard output.  `status`, or exit_failed when something could not be written: a
/// listing cut short by a full disk must not look whole.
int finish_output(int status);

/// Asks on standard error, reads a line from standard input; only a yes is a yes.
bool confirm(std::string_view question);

}  // namespace knell::cli
