#pragma once

namespace knell::cli {

/// The whole program: reads the arguments, runs the verb, gives the exit status.
int run_app(int argc, const char* const* argv);

}  // namespace knell::cli
