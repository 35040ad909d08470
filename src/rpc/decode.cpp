#include "rpc/decode.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "wire/params.hpp"

namespace knell::rpc {

using wire::Params;

namespace {

constexpr std::int64_t generation_max = UINT32_MAX;

/// A pid as the caller means it.  Who says nothing of a namespace means its own.
NamedPid read_named_pid(Params& given, std::string_view field, const Caller& caller) {
    NamedPid named;
    named.pid = static_cast<pid_t>(given.required_integer(field, 1, INT32_MAX));
    named.pid_namespace =
        static_cast<std::uint64_t>(given.integer("pid_namespace", 1, INT64_MAX)
                                       .value_or(static_cast<std::int64_t>(caller.pid_namespace)));
    return named;
}

Owner process_owner(Params& given, const NamedPid& named, const Caller& caller,
                    const Backend& backend) {
    const auto& processes = backend.processes();
    Owner owner;
    owner.host = backend.host();
    const auto located = processes.locate(named, caller.pid);
    const auto identity = located.kind == Located::Kind::here ? processes.identify(located.pid)
                                                              : std::optional<ProcessIdentity>{};
    if (identity) {
        owner.process = *identity;
    } else {
        const auto why = located.kind == Located::Kind::here
                             ? fmt::format("no process {} runs here", named.pid)
                             : located.why;
        given.reject("pid", why +
                                "; name a living one, or use owner {\"lease_ttl_s\": 45} for an "
                                "owner that cannot be watched");
    }
    return owner;
}

Owner lease_owner(Params& given, const Backend& backend) {
    Owner owner;
    owner.kind = OwnerKind::lease;
    owner.host = given.text("host", limits::user_id_bytes_max);
    if (owner.host.empty()) owner.host = backend.host();
    owner.lease_ttl = std::chrono::seconds{
        given.integer("lease_ttl_s", limits::lease_ttl_min.count(), limits::lease_ttl_max.count())
            .value_or(limits::lease_ttl_default.count())};
    return owner;
}

/// {pid}, {lease_ttl_s} or both, or {kind: "lease"} for one of the usual length; without an owner
/// the calling process is it.  {kind: "lease", pid} is a lease that stands for a process which
/// cannot be seen from here: somebody who sees it renews it.
Owner decode_owner(Params& params, const Caller& caller, const Backend& backend) {
    const auto* object = params.object("owner");
    if (object == nullptr) {
        Owner owner;
        owner.host = backend.host();
        if (caller.process) {
            owner.process = *caller.process;
        } else {
            params.reject("owner",
                          "is required: the calling process is not visible from here, or "
                          "gone");
        }
        return owner;
    }
    Params given(*object, "owner.");
    Owner owner;
    const auto kind = given.choice<OwnerKind>("kind", owner_kind_names);
    if (!given.has("pid") && !given.has("lease_ttl_s") && kind != OwnerKind::lease) {
        params.reject("owner", "must hold pid, lease_ttl_s or both");
    } else if (!given.has("pid")) {
        owner = lease_owner(given, backend);
    } else {
        const auto named = read_named_pid(given, "pid", caller);
        if (kind == OwnerKind::lease) {
            owner = lease_owner(given, backend);
            owner.process.pid = named.pid;
            owner.process.pid_namespace = named.pid_namespace;
        } else {
            if (!given.error()) owner = process_owner(given, named, caller, backend);
            if (given.has("lease_ttl_s")) owner.lease_ttl = lease_owner(given, backend).lease_ttl;
        }
    }
    params.absorb(given);
    return owner;
}

/// Whether the caller will be told by the kernel how the owner ends.
bool is_parent(const Caller& caller, const Owner& owner, const Backend& backend) {
    return caller.process && owner.kind == OwnerKind::process && owner.process.pid > 0 &&
           backend.processes().parent_of(owner.process.pid) == caller.pid;
}

/// A process that somebody identified in another namespace, as we know it.  Where it is not to be
/// found its identity stays as it was given, and whoever looks at it says why.
void translate(ProcessIdentity& process, const ProcessTable& processes) {
    if (process.boot_id != processes.boot_id()) return;
    if (process.pid_namespace == processes.own_pid_namespace()) return;
    const auto located =
        processes.locate({process.pid, process.pid_namespace, process.start_ticks}, /*near=*/0);
    if (located.kind != Located::Kind::here) return;
    const auto identity = processes.identify(located.pid);
    if (identity && identity->start_ticks == process.start_ticks) process = *identity;
}

/// One that cannot be identified adopts nobody's orphans.
Reaper reaper_of(const Caller& caller) {
    if (!caller.process) return {};
    return {caller.process->pid, caller.process->start_ticks};
}

struct OwnerLoss {
    OnOwnerLoss act = OnOwnerLoss::end;
    std::chrono::seconds window{0};
};

OwnerLoss decode_owner_loss(Params& params) {
    OwnerLoss loss;
    loss.act =
        params.choice<OnOwnerLoss>("on_owner_loss", on_owner_loss_names).value_or(OnOwnerLoss::end);
    const auto window = params.integer("park_s", 1, limits::park_window_max.count());
    if (window && loss.act != OnOwnerLoss::park) {
        params.reject("park_s", "goes with on_owner_loss: park");
    }
    if (loss.act == OnOwnerLoss::park) {
        loss.window = std::chrono::seconds{window.value_or(limits::park_window_default.count())};
    }
    return loss;
}

std::string decode_meta(Params& params) {
    const auto* meta = params.object("meta");
    if (meta == nullptr) return {};
    auto text = wire::to_text(*meta);
    if (text.size() > limits::meta_bytes_max) {
        params.reject("meta", fmt::format("is {} bytes as JSON; at most {} are allowed",
                                          text.size(), limits::meta_bytes_max));
    }
    return text;
}

/// Everything of a new session but its owner.
Create decode_draft(Params& params, Backend& backend) {
    Create create;
    auto& draft = create.draft;
    draft.id = params.id("id");
    if (draft.id.empty()) {
        draft.id = backend.new_session_id();
        create.fresh_id = true;
    }
    draft.key = params.text("key", limits::key_bytes_max);
    draft.source = params.required_word("source");
    draft.platform = params.word("platform");
    draft.user_id = params.text("user_id", limits::user_id_bytes_max);
    draft.parent_id = params.id("parent_id");
    draft.relation = params.choice<Relation>("relation", relation_names).value_or(Relation::none);
    if (draft.relation != Relation::none && draft.parent_id.empty()) {
        params.reject("parent_id", "is required with a relation");
    }
    if (!draft.parent_id.empty() && draft.parent_id == draft.id) {
        params.reject("parent_id", "is the session itself");
    }
    draft.model = params.text("model", limits::model_bytes_max);
    draft.title = params.text("title", limits::title_bytes_max);
    draft.cwd = params.text("cwd", limits::cwd_bytes_max);
    const auto loss = decode_owner_loss(params);
    draft.on_owner_loss = loss.act;
    draft.park_window = loss.window;
    draft.leftovers = params.choice<LeftoversPolicy>("leftovers", leftovers_policy_names)
                          .value_or(LeftoversPolicy::none);
    draft.meta = decode_meta(params);
    return create;
}

Message decode_message(Params& params, const Json& value, std::size_t index) {
    const auto path = fmt::format("messages[{}]", index);
    const auto* object = value.if_object();
    if (object == nullptr) {
        params.reject(path, "must be an object");
        return {};
    }
    Params given(*object, path + ".");
    Message message;
    message.role = given.required_word("role");
    if (!given.has("content")) given.reject("content", "is required");
    message.content = given.content("content");
    message.tool_name = given.text("tool_name", limits::word_bytes_max);
    message.tokens = given.integer("tokens", 0, INT64_C(1) << 48).value_or(0);
    params.absorb(given);
    return message;
}

template <typename T>
Result<Command> finish(const Params& params, T&& command) {
    if (params.error()) return params.failure();
    return Command{std::forward<T>(command)};
}

Result<Command> decode_turn(const JsonObject& object, bool on) {
    Params params(object);
    Turn turn;
    turn.session_id = params.required_id("session_id");
    turn.generation =
        static_cast<Generation>(params.required_integer("generation", 1, generation_max));
    turn.on = on;
    return finish(params, std::move(turn));
}

EventQuery read_event_query(Params& params) {
    EventQuery query;
    query.after = params.integer("after", 0, INT64_MAX).value_or(0);
    query.session_id = params.id("session_id");
    if (const auto* types = params.array("types")) {
        for (const auto& name : *types) {
            const auto type =
                name.is_string()
                    ? find_in<EventType>(event_type_names, std::string_view(name.get_string()))
                    : std::nullopt;
            if (!type) params.reject("types", wire::to_text(name) + " is not an event type");
            query.types.push_back(type.value_or(EventType::notice));
        }
    }
    return query;
}

}  // namespace

Result<Command> decode_create(const JsonObject& object, const Caller& caller, Backend& backend) {
    Params params(object);
    auto create = decode_draft(params, backend);
    create.draft.owner = decode_owner(params, caller, backend);
    if (params.boolean("reaper").value_or(false)) {
        create.reaper = reaper_of(caller);
        create.reaper_is_parent = is_parent(caller, create.draft.owner, backend);
    }
    return finish(params, std::move(create));
}

Result<Command> decode_resume(const JsonObject& object, const Caller& caller, Backend& backend) {
    Params params(object);
    Resume resume;
    resume.session_id = params.required_id("session_id");
    resume.owner = decode_owner(params, caller, backend);
    const auto loss = decode_owner_loss(params);
    resume.on_owner_loss = loss.act;
    resume.park_window = loss.window;
    resume.leftovers = params.choice<LeftoversPolicy>("leftovers", leftovers_policy_names)
                           .value_or(LeftoversPolicy::none);
    resume.takeover = params.boolean("takeover").value_or(false);
    resume.said_by = caller.describe();
    if (params.boolean("reaper").value_or(false)) {
        resume.reaper = reaper_of(caller);
        resume.reaper_is_parent = is_parent(caller, resume.owner, backend);
    }
    return finish(params, std::move(resume));
}

Result<Command> decode_append(const JsonObject& object, const Caller&, Backend&) {
    Params params(object);
    Append append;
    append.session_id = params.required_id("session_id");
    append.generation =
        static_cast<Generation>(params.required_integer("generation", 1, generation_max));
    const auto* messages = params.array("messages");
    if (messages == nullptr || messages->empty()) {
        params.reject("messages", "must be an array with at least one message");
    } else if (messages->size() > limits::messages_per_append_max) {
        params.reject("messages", fmt::format("holds {} messages; at most {} are allowed in a call",
                                              messages->size(), limits::messages_per_append_max));
    } else {
        append.messages.reserve(messages->size());
        for (std::size_t i = 0; i < messages->size(); ++i) {
            append.messages.push_back(decode_message(params, (*messages)[i], i));
        }
    }
    return finish(params, std::move(append));
}

Result<Command> decode_close(const JsonObject& object, const Caller& caller, Backend&) {
    Params params(object);
    Close close;
    close.session_id = params.required_id("session_id");
    if (const auto given = params.integer("generation", 1, generation_max)) {
        close.generation = static_cast<Generation>(*given);
    }
    if (const auto given = params.word("reason"); !given.empty()) {
        const auto reason = parse_reason(given);
        if (!reason) {
            params.reject("reason", fmt::format("{} is not a reason", given));
        } else if (row_of(*reason).said_by == SaidBy::daemon) {
            params.reject("reason",
                          fmt::format("{} can only be found by the daemon itself", given));
        } else {
            close.reason = *reason;
        }
    }
    close.detail = params.text("detail", limits::detail_bytes_max);
    close.said_by = caller.describe();
    close.caller = caller.process;
    return finish(params, std::move(close));
}

Result<Command> decode_heartbeat(const JsonObject& object, const Caller&, Backend&) {
    Params params(object);
    Heartbeat heartbeat;
    const auto read_beat = [&heartbeat](Params& given) {
        heartbeat.beats.push_back(
            {given.required_id("session_id"),
             static_cast<Generation>(given.required_integer("generation", 1, generation_max))});
    };
    const auto* sessions = params.array("sessions");
    if (sessions == nullptr) {
        read_beat(params);
    } else if (sessions->size() > limits::heartbeats_per_call_max) {
        params.reject("sessions", fmt::format("holds {} sessions; at most {} are allowed in a call",
                                              sessions->size(), limits::heartbeats_per_call_max));
    } else {
        heartbeat.beats.reserve(sessions->size());
        for (std::size_t i = 0; i < sessions->size() && !params.error(); ++i) {
            const auto* one = (*sessions)[i].if_object();
            if (one == nullptr) {
                params.reject(fmt::format("sessions[{}]", i), "must be an object");
                break;
            }
            // The path is put together only when there is something to complain about.
            Params given(*one);
            read_beat(given);
            if (!given.error()) continue;
            Params named(*one, fmt::format("sessions[{}].", i));
            read_beat(named);
            params.absorb(named);
        }
    }
    return finish(params, std::move(heartbeat));
}

Result<Command> decode_turn_start(const JsonObject& params, const Caller&, Backend&) {
    return decode_turn(params, /*on=*/true);
}

Result<Command> decode_turn_end(const JsonObject& params, const Caller&, Backend&) {
    return decode_turn(params, /*on=*/false);
}

Result<SessionQuery> decode_list(const JsonObject& object) {
    Params params(object);
    SessionQuery query;
    query.source = params.word("source");
    query.key = params.text("key", limits::key_bytes_max);
    query.status = params.choice<Status>("status", status_names);
    query.ended = params.boolean("ended");
    query.all = params.boolean("all").value_or(false);
    query.bytes_max = limits::page_bytes_max;
    query.limit = static_cast<std::size_t>(
        params.integer("limit", 1, limits::list_page_max)
            .value_or(static_cast<std::int64_t>(limits::list_page_default)));
    if (const auto cursor = params.text("cursor", limits::word_bytes_max); !cursor.empty()) {
        Ordinal before = 0;
        const auto* end = cursor.data() + cursor.size();
        const auto [stop, error] = std::from_chars(cursor.data(), end, before);
        if (error != std::errc{} || stop != end || before < 0) {
            params.reject("cursor", "is not one that session.list gave as `next`");
        }
        query.before = before;
    }
    if (params.error()) return params.failure();
    return query;
}

Result<EventQuery> decode_events(const JsonObject& object) {
    Params params(object);
    auto query = read_event_query(params);
    query.bytes_max = limits::page_bytes_max;
    query.limit = static_cast<std::size_t>(
        params.integer("limit", 1, limits::events_page_max)
            .value_or(static_cast<std::int64_t>(limits::events_page_default)));
    if (params.error()) return params.failure();
    return query;
}

Result<Subscription> decode_subscription(const JsonObject& object) {
    Params params(object);
    Subscription subscription;
    subscription.query = read_event_query(params);
    subscription.from_now = !params.integer("after", 0, INT64_MAX).has_value();
    if (params.error()) return params.failure();
    return subscription;
}

Result<Command> decode_spooled(std::string_view method, const JsonObject& object, WallTime at,
                               Backend& backend) {
    Params params(object);
    if (method == "session.create") {
        auto create = decode_draft(params, backend);
        create.at = at;
        create.draft.owner.host = backend.host();
        if (const auto* owner = params.object("owner")) {
            Params given(*owner, "owner.");
            auto& process = create.draft.owner.process;
            process.pid = static_cast<std::int32_t>(given.required_integer("pid", 1, INT32_MAX));
            process.start_ticks =
                static_cast<std::uint64_t>(given.integer("start_ticks", 0, INT64_MAX).value_or(0));
            process.boot_id = given.text("boot_id", limits::word_bytes_max);
            process.pid_namespace = static_cast<std::uint64_t>(
                given.integer("pid_namespace", 0, INT64_MAX).value_or(0));
            params.absorb(given);
            if (!given.error()) translate(process, backend.processes());
        }
        return finish(params, std::move(create));
    }
    if (method == "session.close") {
        auto command = decode_close(object, Caller{}, backend);
        if (command) {
            auto& close = std::get<Close>(*command);
            close.at = at;
            close.said_by = "knell run, spooled while no daemon could be reached";
        }
        return command;
    }
    return fail(ErrorCode::method_not_found,
                fmt::format("{} cannot be spooled", std::string(method)));
}

}  // namespace knell::rpc
