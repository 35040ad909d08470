#include "daemon/spool_text.hpp"

#include <fmt/format.h>

#include "daemon/spool_file.hpp"
#include "rpc/spooled.hpp"

namespace knell {

namespace {

Result<Command> parse_line(std::string_view line, rpc::Surroundings& here) {
    const auto value = wire::parse_json(line);
    if (!value) return std::unexpected(value.error());
    const auto* object = value->if_object();
    const auto* params = object == nullptr ? nullptr : wire::object_at(*object, "params");
    if (params == nullptr) return fail(ErrorCode::parse_error, "a line without params");
    if (wire::int_at(*object, "v") != 1) {
        return fail(ErrorCode::parse_error, "a line of another version");
    }
    const auto at = parse_rfc3339(wire::text_at(*object, "at"));
    if (!at) return fail(ErrorCode::parse_error, "a line without a time");
    return rpc::decode_spooled(wire::text_at(*object, "method"), *params, *at, here);
}

}  // namespace

Result<std::vector<Command>> parse_spool(std::string_view text, rpc::Surroundings& here) {
    std::vector<Command> commands;
    while (!text.empty()) {
        const auto end = text.find('\n');
        // A last line without its end was cut short by a crash: it was never said.
        if (end == std::string_view::npos) break;
        if (const auto line = text.substr(0, end); !line.empty()) {
            if (commands.size() == limits::spool_lines_max) {
                return fail(ErrorCode::limit,
                            fmt::format("more than {} lines", limits::spool_lines_max));
            }
            auto command = parse_line(line, here);
            if (!command) return std::unexpected(command.error());
            commands.push_back(std::move(*command));
        }
        text.remove_prefix(end + 1);
    }
    return commands;
}

}  // namespace knell
