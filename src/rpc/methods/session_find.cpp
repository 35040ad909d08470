// session.find and session.short_ids: ids as people type and read them.

#include <utility>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "core/short_id.hpp"
#include "rpc/method_table.hpp"
#include "rpc/methods/session_page.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::int64_t found_max = 50;
constexpr std::int64_t found_default = 10;

constexpr std::array find_params{
    Field{.name = "prefix", .type = id, .required = true, .about = "the beginning of an id"},
    Field{.name = "limit",
          .type = integer,
          .min = 1,
          .max = found_max,
          .standard = found_default,
          .about = "1 to 50, default 10"},
};
constexpr std::array find_result{
    with_object(always("sessions", array,
                       "those whose ids begin so, in the order of ids; one whose whole id it is "
                       "comes first"),
                "session", session_fields),
    only("there are more", "more", boolean, "true"),
};
constexpr std::array short_params{
    Field{.name = "ids",
          .type = array,
          .required = true,
          .min = 1,
          .max = limits::list_page_max,
          .items = id,
          .unit = "id",
          .about = "of sessions; what is no session's id is shortened all the same"},
};
constexpr std::array short_result{
    always_list("short_ids", text,
                "for each, in the same order, a beginning of it that no other session's id has, "
                "of at least eight characters"),
};

void find(Call&& call, Backend& backend) {
    auto given = given_of<find_params>(call);
    auto prefix = given.get<"prefix">();
    const auto limit = given.get_as<std::size_t, "limit">();
    if (given.error()) return call.respond(given.failure());
    backend.read(
        call.caller.connection,
        [prefix = std::move(prefix), limit](Reader& reader) -> Result<wire::Rendered> {
            auto found = reader.find_beginning(prefix, limit + 1);
            if (!found) return std::unexpected(std::move(found.error()));
            const bool is_more = found->size() > limit;
            if (is_more) found->pop_back();
            return render_sessions(*found, is_more ? R"(,"more":true)" : "");
        },
        std::move(call.respond));
}

std::vector<SessionId> read_ids(wire::FieldReader& given, const JsonArray* names) {
    std::vector<SessionId> ids;
    if (names == nullptr) return ids;
    for (std::size_t i = 0; i < names->size() && !given.error(); ++i) {
        const auto* name = (*names)[i].if_string();
        const auto wrong =
            name == nullptr ? "must be a string" : why_not_an_id(std::string_view(*name));
        if (wrong) {
            given.reject(fmt::format("ids[{}]", i), *wrong);
        } else {
            ids.emplace_back(std::string(*name));
        }
    }
    return ids;
}

void shorten(Call&& call, Backend& backend) {
    auto given = given_of<short_params>(call);
    auto ids = read_ids(given, given.array<"ids">());
    if (given.error()) return call.respond(given.failure());
    backend.read(
        call.caller.connection,
        [ids = std::move(ids)](Reader& reader) -> Result<Json> {
            JsonArray shortened;
            for (const auto& one : ids) {
                const auto beside = reader.neighbours(one);
                if (!beside) return std::unexpected(beside.error());
                shortened.emplace_back(short_id(one, beside->before, beside->after));
            }
            return JsonObject{{"short_ids", std::move(shortened)}};
        },
        std::move(call.respond));
}

constexpr std::array family{
    Method{"session.find", "sessions by the beginning of their ids", find_params, find_result, find,
           /*is_ordered=*/false, Access::read_only},
    Method{"session.short_ids", "the shortest text that stands for each of some ids", short_params,
           short_result, shorten, /*is_ordered=*/false, Access::read_only},
};

}  // namespace

std::span<const Method> session_find_methods() {
    return family;
}

}  // namespace knell::rpc
