#include "rpc/spooled.hpp"

#include <fmt/format.h>

namespace knell::rpc {

Result<Command> decode_spooled(std::string_view method, const JsonObject& params, WallTime at,
                               Surroundings& here) {
    if (method == "session.create") return read_spooled_create(params, at, here);
    if (method == "session.close") return read_spooled_close(params, at, here);
    return fail(ErrorCode::method_not_found,
                fmt::format("{} cannot be spooled", std::string(method)));
}

}  // namespace knell::rpc
