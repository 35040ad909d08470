#include "rpc/spooled.hpp"

#include <fmt/format.h>

namespace knell::rpc {

Result<Command> decode_spooled(std::string_view method, const JsonObject& params, WallTime at,
                               Backend& backend) {
    if (method == "session.create") return read_spooled_create(params, at, backend);
    if (method == "session.close") return read_spooled_close(params, at, backend);
    return fail(ErrorCode::method_not_found,
                fmt::format("{} cannot be spooled", std::string(method)));
}

}  // namespace knell::rpc
