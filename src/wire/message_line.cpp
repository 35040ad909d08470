#include "wire/message_line.hpp"

#include "wire/session_json.hpp"

namespace knell::wire {

std::string message_line(const Message& message) {
    return to_text(to_json(message));
}

}  // namespace knell::wire
