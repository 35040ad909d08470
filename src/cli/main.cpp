#include <cstdio>
#include <exception>

#include "cli/app.hpp"
#include "platform/standard_descriptors.hpp"

int main(int argc, char** argv) {
    knell::hold_standard_descriptors();
    try {
        return knell::cli::run_app(argc, argv);
    } catch (const std::exception& error) {
        // Nothing of ours throws; this is memory that ran out.
        std::fprintf(stderr, "knell: %s\n", error.what());
        return 1;
    }
}
