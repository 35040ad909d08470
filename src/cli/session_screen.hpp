#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "client/connection.hpp"
#include "platform/paths.hpp"
#include "platform/terminal.hpp"

namespace knell::cli {

/// What is to be shown, made anew: whole lines, none wider than the terminal.
using MakeScreen = std::function<Result<std::string>(client::Connection&, const Terminal&)>;

/// Shows it on the terminal of standard output whenever an event tells of a change, and every other
/// second for what no event tells of (ages), until Ctrl-C; gives the exit status.  A daemon that
/// goes away is waited for.
int watch_sessions(client::Connection connection, const Paths& paths, const MakeScreen& make);

/// What puts `text` in the place of what is shown: at most `rows` lines of it, and how many there
/// are below when there are more.  Pure.
std::string repaint(std::string_view text, std::size_t rows);

}  // namespace knell::cli
