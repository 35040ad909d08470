#pragma once

#include "rpc/owner_params.hpp"
#include "wire/json.hpp"

/// What the methods that open a session, or end one, have in common.
namespace knell::rpc {

namespace session_rows {

using namespace owner_rows;

// A client that has none of these may say so with "", as gateways that fill in a form do.
inline constexpr Field platform_param{
    .name = "platform", .type = word, .may_be_empty = true, .about = "telegram, slack ..."};
inline constexpr Field chat_type_param{
    .name = "chat_type", .type = word, .may_be_empty = true, .about = "dm, group, thread ..."};
inline constexpr Field user_id_param{.name = "user_id",
                                     .type = text,
                                     .may_be_empty = true,
                                     .max = limits::user_id_bytes_max,
                                     .about = "whose conversation it is"};
inline constexpr Field model_param{.name = "model",
                                   .type = text,
                                   .may_be_empty = true,
                                   .max = limits::model_bytes_max,
                                   .about = "the model that answers"};
inline constexpr Field cwd_param{.name = "cwd",
                                 .type = text,
                                 .may_be_empty = true,
                                 .max = limits::cwd_bytes_max,
                                 .about = "working directory"};
inline constexpr Field meta_param{.name = "meta",
                                  .type = object,
                                  .max = limits::meta_bytes_max,
                                  .about = "anything of the client's own"};

inline constexpr std::array opened_result{
    always("session_id", id, "the session"),
    always("generation", integer, "the fencing token of this owner"),
    always_one_of<Status>("status", "of the session, now"),
    only("the owner has a lease", "lease_ttl_s", integer, "renew it within so many seconds"),
    only("the owner has a lease", "renew_every_s", integer,
         "how often to: two renewals may be lost"),
};
inline constexpr std::array closed_result{
    always("session_id", id, "the session"),
    always("generation", integer, "that ended"),
    always_one_of<Status>("status", "ended"),
    always("reason", word, "why it ended"),
    always("ended_at", time, "when"),
    always("already_ended", boolean, "true when it had ended before; nothing was changed"),
    with_object(Field{.name = "leftovers",
                      .type = array,
                      .when = "its command left some",
                      .about = "processes that it left running"},
                "leftover", leftover_fields),
};

}  // namespace session_rows

JsonObject render_opened(const OpenedReply& reply);
JsonObject render_closed(const ClosedReply& reply);

/// What every call that may open a session says of it, but for its id, parent and owner.
template <const auto& table>
void read_conversation(wire::Given<table>& given, Session& draft) {
    draft.key = given.template get<"key">();
    draft.source = given.template get<"source">();
    draft.platform = given.template get<"platform">();
    draft.chat_type = given.template get<"chat_type">();
    draft.user_id = given.template get<"user_id">();
    draft.model = given.template get<"model">();
    draft.title = given.template get<"title">();
    draft.cwd = given.template get<"cwd">();
    const auto loss = read_owner_loss(given, given.template choice<OnOwnerLoss, "on_owner_loss">(),
                                      given.template get<"park_s">());
    draft.on_owner_loss = loss.act;
    draft.park_window = loss.window;
    draft.meta = given.template get<"meta">();
}

}  // namespace knell::rpc
