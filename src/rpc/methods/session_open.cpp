// session.create and session.resume: a session gets an owner.

#include "rpc/change.hpp"
#include "rpc/method_table.hpp"
#include "rpc/session_params.hpp"
#include "rpc/spooled.hpp"

namespace knell::rpc {

namespace {

using namespace session_rows;

constexpr std::array create_params{
    Field{.name = "id", .type = id, .about = "default: a new UUIDv7"},
    key_param,
    source_param,
    platform_param,
    chat_type_param,
    user_id_param,
    Field{.name = "parent_id",
          .type = id,
          .may_be_empty = true,
          .about = "the session it came out of"},
    Field{.name = "relation",
          .type = choice,
          .standard = place_of(Relation::none),
          .choices = names_of<Relation>,
          .about = "compression, branch, subagent or reset"},
    model_param,
    title_param,
    cwd_param,
    owner_param,
    on_owner_loss_param,
    park_param,
    leftovers_param,
    reaper_param,
    meta_param,
};
constexpr Field next_title_param = [] {
    auto row = title_param;
    row.about =
        "from now on; default: the one on record, which one that is the same as owner.command "
        "replaces only if that was the command before";
    return row;
}();
constexpr Field next_cwd_param = [] {
    auto row = cwd_param;
    row.about = "working directory from now on; default: the one on record";
    return row;
}();
constexpr std::array resume_params{
    session_param,
    owner_param,
    on_owner_loss_param,
    park_param,
    leftovers_param,
    reaper_param,
    next_title_param,
    next_cwd_param,
    Field{.name = "takeover",
          .type = boolean,
          .standard = 0,
          .about = "end the present owner's generation as superseded"},
};
/// What was spooled has the rows of a create but for the owner.
constexpr std::array spooled_params = [] {
    auto rows = create_params;
    std::ranges::find(rows, "owner", &Field::name)->fields = spooled_owner_params;
    return rows;
}();

/// Everything of a new session but its owner.
template <const auto& table>
Create read_draft(wire::Given<table>& given, Surroundings& here) {
    Create create;
    auto& draft = create.draft;
    draft.id = given.template get<"id">();
    if (draft.id.empty()) {
        draft.id = here.new_session_id();
        create.fresh_id = true;
    }
    read_conversation(given, draft);
    draft.parent_id = given.template get<"parent_id">();
    draft.relation = given.template choice<Relation, "relation">();
    if (draft.relation != Relation::none && draft.parent_id.empty()) {
        given.reject("parent_id", "is required with a relation");
    }
    if (!draft.parent_id.empty() && draft.parent_id == draft.id) {
        given.reject("parent_id", "is the session itself");
    }
    draft.leftovers = given.template choice<LeftoversPolicy, "leftovers">();
    return create;
}

Result<Create> read_create(const Call& call, Surroundings& here) {
    auto given = given_of<create_params>(call);
    auto create = read_draft(given, here);
    create.draft.owner =
        read_owner(given, given.object<"owner", owner_params>(), call.caller, here);
    if (given.get<"reaper">()) {
        create.reaper = reaper_of(call.caller, here);
        create.reaper_is_parent = is_parent(call.caller, create.draft.owner, here);
    }
    return if_good(given, std::move(create));
}

void create_now(Call&& call, Backend& backend) {
    submit(read_create(call, backend), std::move(call.respond), backend, render_opened);
}

/// An id that is taken may be its owner's who has just died: that is looked at before the answer is
/// no.  Ids that nobody chose are never taken.
void create(Call&& call, Backend& backend) {
    if (!call.params.contains("id")) return create_now(std::move(call), backend);
    auto command = read_create(call, backend);
    submit_or_look(std::move(command), std::move(call), backend, render_opened, create_now);
}

void resume_now(Call&& call, Backend& backend) {
    auto given = given_of<resume_params>(call);
    Resume resume;
    resume.session_id = given.get<"session_id">();
    resume.owner = read_owner(given, given.object<"owner", owner_params>(), call.caller, backend);
    const auto loss =
        read_owner_loss(given, given.choice<OnOwnerLoss, "on_owner_loss">(), given.get<"park_s">());
    resume.on_owner_loss = loss.act;
    resume.park_window = loss.window;
    resume.leftovers = given.choice<LeftoversPolicy, "leftovers">();
    resume.title = given.get<"title">();
    resume.cwd = given.get<"cwd">();
    resume.takeover = given.get<"takeover">();
    resume.said_by = call.caller.describe();
    if (given.get<"reaper">()) {
        resume.reaper = reaper_of(call.caller, backend);
        resume.reaper_is_parent = is_parent(call.caller, resume.owner, backend);
    }
    submit(if_good(given, std::move(resume)), std::move(call.respond), backend, render_opened);
}

void resume(Call&& call, Backend& backend) {
    after_a_look(std::move(call), backend, resume_now);
}

constexpr std::array family{
    Method{"session.create", "open a session", create_params, opened_result, create,
           /*is_ordered=*/true},
    Method{"session.resume", "open an ended session again, or claim a live one", resume_params,
           opened_result, resume},
};

}  // namespace

std::span<const Method> session_open_methods() {
    return family;
}

Result<Command> read_spooled_create(const JsonObject& params, WallTime at, Surroundings& here) {
    wire::Given<spooled_params> given(params);
    auto create = read_draft(given, here);
    create.at = at;
    create.draft.owner.host = here.host();
    if (auto owner = given.object<"owner", spooled_owner_params>()) {
        create.draft.owner = read_spooled_owner(*owner, here);
    }
    return if_good(given, std::move(create));
}

}  // namespace knell::rpc
