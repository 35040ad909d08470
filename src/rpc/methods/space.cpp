// space.activity: what goes on, for whoever draws it.

#include <fmt/format.h>

#include "core/limits.hpp"
#include "rpc/activity.hpp"
#include "rpc/etag.hpp"
#include "rpc/method_table.hpp"
#include "wire/space_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::array activity_params{
    Field{.name = "since",
          .type = text,
          .may_be_empty = true,
          .about = "`next` of the answer before: only what is different since; default: all"},
    Field{.name = "all",
          .type = boolean,
          .standard = 0,
          .about = "also what the gateways in `space.gateways` told"},
    Field{.name = "if_none_match",
          .type = text,
          .max = limits::etags_bytes_max,
          .about = "as the HTTP header: if it names the `etag`, only that is told"},
};
constexpr std::array gone_fields{
    always("id", id, "of the session"),
    only("of another gateway", "gateway", text, "its name"),
};
constexpr std::array gateway_fields{
    always("name", text, "in `space.gateways`"),
    always("reachable", boolean, "whether it answered when it was asked last"),
    only("it ever answered", "as_of", time, "when it did last"),
    only("it is not reachable", "error", text, "why"),
    only("it had more sessions than it told", "truncated", boolean, "true"),
};
constexpr std::array activity_result{
    always("generated_at", time, "when this was asked"),
    always("etag", text, "another one if anything but times of asking is different"),
    only("`if_none_match` names the etag", "unchanged", boolean, "true"),
    only("it is not unchanged", "node", text, "this node"),
    only("it is not unchanged", "whole", boolean, "all there is, rather than what is different"),
    Field{.name = "sessions",
          .type = array,
          .fields = sprite_fields,
          .when = "it is not unchanged",
          .about = "open, or ended within the last five minutes"},
    Field{.name = "gone",
          .type = array,
          .fields = gone_fields,
          .when = "it is not whole",
          .about = "sessions that are not shown any more"},
    only("it is not unchanged", "next", text, "`since` of the next call"),
    only("there are more than an answer can hold", "truncated", boolean,
         "true: the oldest are left out"),
    Field{.name = "gateways",
          .type = array,
          .fields = gateway_fields,
          .when = "asked for all",
          .about = "the others, and whether they answer"},
};

struct Asked {
    std::string since;
    bool all = false;
    std::string if_none_match;
};

JsonObject gone_of(std::string_view key) {
    const auto slash = key.find('/');
    if (slash == std::string_view::npos) return {{"id", key}};
    return {{"id", key.substr(slash + 1)}, {"gateway", key.substr(0, slash)}};
}

JsonObject render(const GatewayReport& gateway) {
    JsonObject object{{"name", gateway.name}, {"reachable", gateway.is_reachable}};
    if (gateway.as_of) object["as_of"] = format_rfc3339(*gateway.as_of);
    if (!gateway.is_reachable) object["error"] = gateway.error;
    if (gateway.is_truncated) object["truncated"] = true;
    return object;
}

/// Of everything that is told but when it was asked.
std::uint64_t hash_of_answer(std::uint64_t hash, bool is_truncated,
                             const std::vector<GatewayReport>& gateways) {
    hash = hash_of(is_truncated ? "truncated" : "", hash);
    for (const auto& gateway : gateways) {
        hash = hash_of(fmt::format("{}\n{}\n{}\n{}\n", gateway.name, gateway.is_reachable,
                                   gateway.is_truncated, gateway.error),
                       hash);
    }
    return hash;
}

/// The members of an object that is written behind others.
std::string more_members(const JsonObject& object) {
    auto text = wire::to_text(object);
    text.front() = ',';
    return text;
}

/// There may be thousands, each of them text already.
void append_sprites(std::string& out, const Activity::View& view) {
    std::size_t bytes = out.size();
    for (const auto* changes : {&view.own, &view.others}) {
        for (const auto* sprite : changes->sprites) bytes += sprite->text.size() + 1;
    }
    constexpr std::size_t rest_bytes = 4U << 10U;
    out.reserve(bytes + rest_bytes);
    out += R"(,"sessions":[)";
    std::string_view comma;
    for (const auto* changes : {&view.own, &view.others}) {
        for (const auto* sprite : changes->sprites) {
            out += comma;
            out += sprite->text;
            comma = ",";
        }
    }
    out += ']';
}

Result<wire::Rendered> look(const Asked& asked, const SpaceView& space, const std::string& node,
                            Reader& reader) {
    const auto view = asked.all ? space.activity.all(reader, space.now, space.gateways, asked.since)
                                : space.activity.own(reader, space.now, asked.since);
    if (!view) return std::unexpected(view.error());
    const auto etag = etag_of(hash_of_answer(view->hash, view->is_truncated, space.gateways));
    JsonObject head{{"generated_at", format_rfc3339(space.now)}, {"etag", etag}};
    if (is_match(asked.if_none_match, etag)) {
        head["unchanged"] = true;
        return head;
    }
    head["node"] = node;
    head["whole"] = view->is_whole;
    JsonObject rest;
    if (!view->is_whole) {
        JsonArray gone;
        for (const auto key : view->own.gone) gone.push_back(gone_of(key));
        for (const auto key : view->others.gone) gone.push_back(gone_of(key));
        rest["gone"] = std::move(gone);
    }
    rest["next"] = view->next;
    if (view->is_truncated) rest["truncated"] = true;
    if (asked.all) {
        JsonArray gateways;
        for (const auto& gateway : space.gateways) gateways.push_back(render(gateway));
        rest["gateways"] = std::move(gateways);
    }
    auto text = wire::to_text(head);
    text.pop_back();
    append_sprites(text, *view);
    text += more_members(rest);
    return wire::Rendered::from_text(std::move(text));
}

void activity(Call&& call, Backend& backend) {
    auto given = given_of<activity_params>(call);
    Asked asked{.since = given.get<"since">(),
                .all = given.get<"all">(),
                .if_none_match = given.get<"if_none_match">()};
    if (given.error()) return call.respond(given.failure());
    backend.read(
        call.caller.connection,
        [asked = std::move(asked), &backend](Reader& reader) {
            return look(asked, backend.space(asked.all), backend.node_id(), reader);
        },
        std::move(call.respond));
}

constexpr std::array family{
    Method{"space.activity", "sessions that are open or ended lately, to be drawn", activity_params,
           activity_result, activity, /*is_ordered=*/false, Access::read_only},
};

}  // namespace

std::span<const Method> space_methods() {
    return family;
}

}  // namespace knell::rpc
