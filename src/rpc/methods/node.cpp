// config.check and node.*: the daemon itself.

#include "core/limits.hpp"
#include "rpc/method_table.hpp"
#include "wire/config_json.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

// --- config.check -------------------------------------------------------------------------------

constexpr std::array levels{std::string_view{"error"}, std::string_view{"warning"}};
constexpr std::array problem_fields{
    always("file", text, "the file"),
    only("known", "line", integer, "from 1"),
    only("known", "column", integer, "from 1, in bytes"),
    always("path", text, "of the key: `webhooks[2].url`; \"\" is the file as a whole"),
    Field{.name = "level",
          .type = choice,
          .required = true,
          .choices = levels,
          .about = "what is in error cannot be used"},
    always("message", text, "what is wrong"),
    always("hint", text, "what would be right; \"\" where the message says it"),
};
constexpr std::array retention_fields{
    always("keep_days", integer, "how long events are kept"),
    always("keep_count", integer, "how many are"),
};
constexpr std::array check_params{
    Field{.name = "file",
          .type = text,
          .max = limits::cwd_bytes_max,
          .about = "check this file instead of the daemon's own; an absolute path, and only on the "
                   "unix socket"},
    Field{.name = "text",
          .type = content,
          .may_be_empty = true,
          .max = limits::config_bytes_max,
          .about = "check this text instead"},
    Field{.name = "hermes",
          .type = boolean,
          .standard = 0,
          .about = "the file or text is a config.yaml of Hermes"},
};
constexpr std::array check_result{
    always("ok", boolean, "there is no error"),
    always("file", text, "what was checked; \"text\" where that was given"),
    always_objects("problems", problem_fields, "what is wrong and where; errors first"),
    always_list("webhooks", text, "names of those that can be used"),
    always_list("hooks", text, "names of those that can be used"),
    always_list("remarks", text, "what is odd, though it can be used"),
    Field{.name = "events",
          .type = object,
          .fields = retention_fields,
          .when = "config.yaml can be used",
          .about = "what is kept of the log"},
    always("config_file", text, "where config.yaml is looked for"),
    always("config_exists", boolean, "whether it is there"),
    only("the daemon's own were checked", "hooks_dir", text, "where hooks are looked for"),
};

void config_check(Call&& call, Backend& backend) {
    auto given = given_of<check_params>(call);
    ConfigQuestion what{
        .file = given.get<"file">(), .text = {}, .is_hermes = given.get<"hermes">()};
    if (given.has<"text">()) what.text = given.get<"text">();
    if (!what.file.empty()) {
        if (what.text) given.reject("text", "says the same as file; give one of both");
        if (!what.file.starts_with('/')) given.reject("file", "must be an absolute path");
        // What is in a file is part of what is wrong with it.
        if (!given.error() && !std::holds_alternative<UnixPeer>(call.caller.who)) {
            return call.respond(fail(ErrorCode::unauthorized,
                                     "files are read for clients on the unix socket alone; send "
                                     "what is in it as text"));
        }
    } else if (what.is_hermes && !what.text) {
        given.reject("hermes", "is said of a file or a text; give one of both");
    }
    if (given.error()) return call.respond(given.failure());
    backend.read(
        call.caller.connection,
        [&backend, what = std::move(what)](Reader&) -> Result<Json> {
            return wire::to_json(backend.check_config(what));
        },
        std::move(call.respond));
}

// --- node.reload --------------------------------------------------------------------------------

constexpr std::array reload_result{
    always("reloaded", boolean, "config.yaml is in force as it stands; else it has an error"),
    always_list("changes", text,
                "what is set otherwise than when this was last asked, or than at the start"),
    always_objects("problems", problem_fields, "what is wrong in config.yaml and the hooks"),
};

void reload(Call&& call, Backend& backend) {
    backend.reload([respond = std::move(call.respond)](Result<ReloadReport> report) mutable {
        if (!report) return respond(std::unexpected(std::move(report.error())));
        respond(wire::to_json(*report));
    });
}

// --- node.sweep ---------------------------------------------------------------------------------

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
constexpr std::array ended_fields{
    always("session_id", id, "the session"),
    always("pid", integer, "of its owner"),
    always("reason", word, "why it ends"),
    always("evidence", text, "what was seen"),
    only("it waits for its next owner instead", "parks", boolean, "true"),
};
constexpr std::array verdicts{std::string_view{"alive"}, std::string_view{"unknown"}};
constexpr std::array left_alone_fields{
    always("session_id", id, "the session"),
    always("pid", integer, "of its owner"),
    Field{.name = "verdict",
          .type = choice,
          .required = true,
          .choices = verdicts,
          .about = "of its owner"},
    always("why", text, "what was seen"),
};
constexpr std::array count_fields{
    always("count", integer, "how many"),
    always("why", text, "why they are left alone"),
};
constexpr std::array sweep_result{
    always("dry_run", boolean, "nothing was ended"),
    always_objects("ended", ended_fields, "a page of those whose owner is proven dead"),
    always("ended_count", integer, "of all pages"),
    always_objects("left_alone", left_alone_fields, "a page of those that were not ended"),
    always("left_alone_count", integer, "of all pages, with leases and parked ones"),
    next_after,
    always_object("leases", count_fields, "sessions with a lease"),
    always_object("parked", count_fields, "sessions that wait for their next owner"),
};

JsonObject render(const SweepReport& report) {
    JsonArray ended;
    for (const auto& one : report.ended) {
        JsonObject object{{"session_id", one.session_id.text()},
                          {"pid", one.pid},
                          {"reason", name_of(one.reason)},
                          {"evidence", one.evidence}};
        if (one.parks) object["parks"] = true;
        ended.push_back(std::move(object));
    }
    JsonArray left_alone;
    for (const auto& one : report.left_alone) {
        left_alone.push_back(JsonObject{{"session_id", one.session_id.text()},
                                        {"pid", one.pid},
                                        {"verdict", one.is_unknown ? "unknown" : "alive"},
                                        {"why", one.why}});
    }
    JsonObject result;
    result["dry_run"] = report.dry_run;
    result["ended"] = std::move(ended);
    result["ended_count"] = report.ended_count;
    result["left_alone"] = std::move(left_alone);
    result["left_alone_count"] = report.left_alone_count;
    if (report.next) result["next"] = *report.next;
    result["leases"] = JsonObject{
        {"count", report.leases},
        {"why",
         "each was renewed within its TTL; one that is not ends by itself when it falls due"}};
    result["parked"] = JsonObject{{"count", report.parked},
                                  {"why", "waiting to be claimed within their park window"}};
    return result;
}

void sweep(Call&& call, Backend& backend) {
    auto given = given_of<sweep_params>(call);
    const bool dry_run = given.get<"dry_run">();
    const auto after = given.get<"after">();
    if (given.error()) return call.respond(given.failure());
    backend.sweep(dry_run, after,
                  [respond = std::move(call.respond)](Result<SweepReport> report) mutable {
                      if (!report) return respond(std::unexpected(std::move(report.error())));
                      respond(render(*report));
                  });
}

// --- node.stop ----------------------------------------------------------------------------------

constexpr std::array stop_result{always("stopping", boolean, "true")};

void stop(Call&& call, Backend& backend) {
    call.respond(JsonObject{{"stopping", true}});
    backend.stop();
}

constexpr std::array config_family{
    Method{"config.check",
           "what is wrong in config.yaml and the hooks, or another file; nothing is changed",
           check_params, check_result, config_check,
           /*is_ordered=*/false, Access::read_only},
};
constexpr std::array family{
    Method{"node.sweep", "look at every owner now and end what is proven dead", sweep_params,
           sweep_result, sweep},
    Method{"node.reload",
           "read config.yaml and the hooks again, as SIGHUP does, and say what changed",
           {},
           reload_result,
           reload},
    Method{"node.stop", "end the daemon; sessions stay as they are", {}, stop_result, stop},
};

}  // namespace

std::span<const Method> config_methods() {
    return config_family;
}

std::span<const Method> node_methods() {
    return family;
}

}  // namespace knell::rpc
