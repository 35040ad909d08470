#include "platform/environment.hpp"

#include <cstdlib>

namespace knell {

std::string environment_variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string{value};
}

}  // namespace knell
