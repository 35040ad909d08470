#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace knell {

void check_failed(const char* what, const char* file, int line) {
    std::fprintf(stderr, "knell: broken invariant: %s (%s:%d)\n", what, file, line);
    std::abort();
}

}  // namespace knell
