#include <array>

#include "core/limits.hpp"
#include "rpc/dispatcher.hpp"
#include "rpc/hooks.hpp"
#include "rpc/method_table.hpp"
#include "wire/params.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

void config_check(Call&& call, Backend& backend) {
    backend.read(
        call.caller.connection,
        [&backend](Reader&) -> Result<Json> { return backend.check_config(); },
        std::move(call.respond));
}

void node_status(Call&& call, Backend& backend) {
    backend.read(
        call.caller.connection, [&backend](Reader& reader) { return backend.node_status(reader); },
        std::move(call.respond));
}

void node_sweep(Call&& call, Backend& backend) {
    wire::Params params(call.params);
    const bool dry_run = params.boolean("dry_run").value_or(false);
    const auto after = params.integer("after", 0, INT64_MAX).value_or(0);
    if (params.error()) return call.respond(params.failure());
    backend.sweep(dry_run, after, std::move(call.respond));
}

void node_stop(Call&& call, Backend& backend) {
    call.respond(JsonObject{{"stopping", true}});
    backend.stop();
}

using namespace wire::fields;

constexpr std::array sweep_params{
    Field{.name = "dry_run",
          .type = boolean,
          .standard = 0,
          .about = "say what would end and why, end nothing"},
    Field{.name = "after",
          .type = integer,
          .max = unbounded,
          .standard = 0,
          .about = "name sessions after this one: `next` of the page before"},
};
constexpr std::array hook_params{Field{.name = "name",
                                       .type = text,
                                       .required = true,
                                       .max = limits::subscriber_name_bytes_max,
                                       .about = "the hook or webhook"}};
constexpr Field any_hook_param{.name = "name",
                               .type = text,
                               .max = limits::subscriber_name_bytes_max,
                               .about = "only this hook or webhook; default: all"};
constexpr std::array hooks_retry_params{any_hook_param};
constexpr std::array hooks_letters_params{
    any_hook_param,
    Field{.name = "state",
          .type = choice,
          .choices = names_of<PendingState>,
          .about = "waiting or dead; default: both"},
    Field{.name = "after",
          .type = integer,
          .max = unbounded,
          .standard = 0,
          .about = "with name: only events after this number"},
    Field{.name = "cursor",
          .type = text,
          .max = limits::subscriber_name_bytes_max + 21,
          .about = "`next` of the page before"},
    Field{.name = "limit",
          .type = integer,
          .min = 1,
          .max = limits::list_page_max,
          .standard = limits::list_page_default,
          .about = "1 to 1000, default 50"},
};

constexpr std::array hooks_family{
    Method{"hooks.list", "hooks and webhooks, and how it goes with them", {}, {}, hooks_list},
    Method{"hooks.test", "try one with an event that never happened", hook_params, {}, hooks_test},
    Method{"hooks.retry",
           "send what waits or was given up again, now",
           hooks_retry_params,
           {},
           hooks_retry},
    Method{"hooks.pause", "deliver nothing until resumed", hook_params, {}, hooks_pause},
    Method{"hooks.resume", "go on where it was paused or disabled", hook_params, {}, hooks_resume},
    Method{"hooks.forget",
           "drop the place and letters of one that is gone",
           hook_params,
           {},
           hooks_forget},
    Method{"hooks.letters",
           "events that could not be delivered yet, or were given up",
           hooks_letters_params,
           {},
           hooks_letters},
};

constexpr std::array node_family{
    Method{"config.check",
           "what is wrong in config.yaml and the hooks; nothing is changed",
           {},
           {},
           config_check},
    Method{"node.status", "the daemon itself", {}, {}, node_status},
    Method{"node.sweep",
           "look at every owner now and end what is proven dead",
           sweep_params,
           {},
           node_sweep},
    Method{"node.stop", "end the daemon; sessions stay as they are", {}, {}, node_stop},
};

}  // namespace

std::span<const Method> hooks_methods() {
    return hooks_family;
}

std::span<const Method> node_methods() {
    return node_family;
}

}  // namespace knell::rpc
