#include "rpc/owner_params.hpp"

#include <fmt/format.h>

namespace knell::rpc {

namespace {

using wire::FieldReader;

/// A pid as the caller means it.  Who says nothing of a namespace means its own.
NamedPid read_named_pid(GivenOwner& owner, const Caller& caller) {
    NamedPid named;
    named.pid = static_cast<pid_t>(owner.get<"pid">().value_or(0));
    named.pid_namespace = static_cast<std::uint64_t>(
        owner.get<"pid_namespace">().value_or(static_cast<std::int64_t>(caller.pid_namespace())));
    return named;
}

Owner process_owner(GivenOwner& given, const NamedPid& named, const Caller& caller,
                    const Surroundings& here) {
    const auto& processes = here.processes();
    Owner owner;
    owner.host = here.host();
    const auto located = processes.locate(named, caller.pid());
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

Owner lease_owner(GivenOwner& given, const Surroundings& here) {
    Owner owner;
    owner.kind = OwnerKind::lease;
    owner.host = given.get<"host">();
    if (owner.host.empty()) owner.host = here.host();
    owner.lease_ttl = given.get_as<std::chrono::seconds, "lease_ttl_s">();
    return owner;
}

/// Kept by the daemon itself.
Owner hosted_here(const Surroundings& here) {
    Owner owner;
    owner.kind = OwnerKind::hosted;
    owner.host = here.host();
    owner.lease_ttl = here.detach_window();
    return owner;
}

Owner hosted_owner(GivenOwner& given, const Surroundings& here) {
    const auto refuse = [&given](bool is_given, std::string_view name) {
        if (is_given) given.reject(name, "does not go with kind: hosted, which has no process");
    };
    refuse(given.has<"pid">(), "pid");
    refuse(given.has<"pid_namespace">(), "pid_namespace");
    refuse(given.has<"host">(), "host");
    if (given.has<"lease_ttl_s">()) {
        given.reject("lease_ttl_s",
                     "does not go with kind: hosted; http.detach_window says how long it is kept");
    }
    auto owner = hosted_here(here);
    owner.command = given.get<"command">();
    return owner;
}

Owner calling_process(FieldReader& given, const Caller& caller, const Surroundings& here) {
    Owner owner;
    owner.host = here.host();
    if (const auto process = caller.process()) {
        owner.process = *process;
    } else {
        given.reject(owner_rows::owner_param.name,
                     "is required: the calling process is not visible from here, or gone");
    }
    return owner;
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

}  // namespace

Owner read_owner(FieldReader& given, std::optional<GivenOwner> named_owner, const Caller& caller,
                 const Surroundings& here) {
    if (!named_owner) {
        // One that is no object was refused by then.
        if (given.error()) return {};
        const bool is_http = std::holds_alternative<HttpClient>(caller.who);
        return is_http ? hosted_here(here) : calling_process(given, caller, here);
    }
    auto& owner = *named_owner;
    const auto kind = owner.choice<OwnerKind, "kind">();
    if (kind == OwnerKind::hosted) {
        return hosted_owner(owner, here);
    }
    if (owner.has<"pid_namespace">() && !owner.has<"pid">()) {
        owner.reject("pid_namespace",
                     "says where a pid counts; name that with pid, or leave it out");
        return {};
    }
    if (!owner.has<"pid">() && !owner.has<"lease_ttl_s">() && kind != OwnerKind::lease) {
        given.reject(owner_rows::owner_param.name, "must hold pid, lease_ttl_s or both");
        return {};
    }
    auto command = owner.get<"command">();
    const auto with_command = [&](Owner made) {
        made.command = std::move(command);
        return made;
    };
    if (!owner.has<"pid">()) return with_command(lease_owner(owner, here));
    const auto named = read_named_pid(owner, caller);
    if (kind == OwnerKind::lease) {
        auto lease = lease_owner(owner, here);
        lease.process.pid = named.pid;
        lease.process.pid_namespace = named.pid_namespace;
        return with_command(std::move(lease));
    }
    Owner process;
    if (!owner.error()) process = process_owner(owner, named, caller, here);
    if (owner.has<"lease_ttl_s">()) process.lease_ttl = lease_owner(owner, here).lease_ttl;
    return with_command(std::move(process));
}

Owner read_spooled_owner(GivenSpooledOwner& given, const Surroundings& here) {
    Owner owner;
    owner.host = here.host();
    owner.command = given.get<"command">();
    auto& process = owner.process;
    process.pid = given.get_as<std::int32_t, "pid">();
    process.start_ticks = given.get_as<std::uint64_t, "start_ticks">();
    process.boot_id = given.get<"boot_id">();
    process.pid_namespace = given.get_as<std::uint64_t, "pid_namespace">();
    if (!given.error()) translate(process, here.processes());
    return owner;
}

OwnerLoss read_owner_loss(FieldReader& given, OnOwnerLoss act, std::optional<std::int64_t> park_s) {
    OwnerLoss loss{.act = act};
    if (park_s && act != OnOwnerLoss::park) {
        given.reject(owner_rows::park_param.name, "goes with on_owner_loss: park");
    }
    if (act == OnOwnerLoss::park) {
        loss.window = std::chrono::seconds{park_s.value_or(limits::park_window_default.count())};
    }
    return loss;
}

bool is_parent(const Caller& caller, const Owner& owner, const Surroundings& here) {
    return caller.process() && owner.kind == OwnerKind::process && owner.process.pid > 0 &&
           here.processes().parent_of(owner.process.pid) == caller.pid();
}

Reaper reaper_of(const Caller& caller, const Surroundings& here) {
    const auto process = caller.process();
    if (!process || !here.processes().is_knell(caller.pid())) return {};
    return {process->pid, process->start_ticks};
}

}  // namespace knell::rpc
