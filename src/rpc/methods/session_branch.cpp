// session.branch and session.compress: a child goes on with what was said, or with a summary of it.

#include "rpc/change.hpp"
#include "rpc/method_table.hpp"
#include "rpc/session_params.hpp"

namespace knell::rpc {

namespace {

using namespace session_rows;

// --- session.branch -----------------------------------------------------------------------------

constexpr Field child_title_param = [] {
    auto row = title_param;
    row.about = "of the child; default: the parent's";
    return row;
}();
constexpr std::array branch_params{
    session_param,
    generation_param,
    Field{.name = "keep_open",
          .type = boolean,
          .standard = 0,
          .about = "the parent goes on too, and keeps its key"},
    child_title_param,
};
constexpr std::array branch_result = joined(
    opened_result, std::array{
                       always("parent_id", id, "the session it came out of"),
                       always("parent_ended", boolean, "whether that has ended, as branched"),
                   });

void branch_now(Call&& call, Backend& backend) {
    auto given = given_of<branch_params>(call);
    Branch branch;
    branch.session_id = given.get<"session_id">();
    branch.generation = given.get_as<Generation, "generation">();
    branch.keep_open = given.get<"keep_open">();
    branch.title = given.get<"title">();
    branch.child_id = backend.new_session_id();
    branch.said_by = call.caller.describe();
    const auto parent = branch.session_id;
    submit(if_good(given, std::move(branch)), std::move(call.respond), backend,
           [parent](const BranchedReply& reply) {
               auto result = render_opened(reply.child);
               result["parent_id"] = parent.text();
               result["parent_ended"] = reply.parent.has_value();
               return result;
           });
}

/// It ends the parent: not before the end of an owner that has just died is told.
void branch(Call&& call, Backend& backend) {
    after_a_look(std::move(call), backend, branch_now);
}

// --- session.compress ---------------------------------------------------------------------------

constexpr std::array compress_params{session_param, generation_param};
constexpr std::array child_fields{
    always("session_id", id, "the session that goes on"),
    always("generation", integer, "its fencing token"),
};
constexpr std::array compress_result{
    always_one_of<CompressOutcome>("outcome", "how it went"),
    with_object(only("it did not fail", "child", object, "what goes on in place of the session"),
                "", child_fields),
    only("there is a summary", "provider", text, "who made it"),
    only("there is no summary", "why", text, "in words"),
};

JsonObject render(const CompressResult& compressed) {
    JsonObject result{{"outcome", name_in(compress_outcome_names, compressed.outcome)}};
    if (const auto& child = compressed.child) {
        result["child"] =
            JsonObject{{"session_id", child->session_id.text()}, {"generation", child->generation}};
    }
    if (!compressed.provider.empty()) result["provider"] = compressed.provider;
    if (!compressed.why.empty()) result["why"] = compressed.why;
    return result;
}

void compress(Call&& call, Backend& backend) {
    auto given = given_of<compress_params>(call);
    auto session = given.get<"session_id">();
    const auto generation = given.get_as<Generation, "generation">();
    if (given.error()) return call.respond(given.failure());
    backend.compress(
        std::move(session), generation, call.caller.describe(),
        [respond = std::move(call.respond)](Result<CompressResult> compressed) mutable {
            if (!compressed) return respond(std::unexpected(std::move(compressed.error())));
            respond(render(*compressed));
        });
}

constexpr std::array family{
    Method{"session.branch", "go on in a child, with what was said so far", branch_params,
           branch_result, branch},
    // Not ordered: what is said while the summary is made is not to wait for it.
    Method{"session.compress", "replace a session by a child that goes on from a summary",
           compress_params, compress_result, compress},
};

}  // namespace

std::span<const Method> session_branch_methods() {
    return family;
}

}  // namespace knell::rpc
