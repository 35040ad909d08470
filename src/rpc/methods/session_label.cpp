// session.title, session.pin and session.unpin: what a person writes on a session, open or ended.

#include "rpc/change.hpp"
#include "rpc/method_table.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::array title_params{
    session_param,
    Field{.name = "title",
          .type = text,
          .required = true,
          .may_be_empty = true,
          .max = limits::title_bytes_max,
          .about = "its new title; \"\" takes it away"},
};
constexpr std::array label_result{
    always("session_id", id, "the session"),
    always("generation", integer, "its fencing token"),
    only("it has one", "title", text, "its title, now"),
    always("pinned", boolean, "whether it is kept, now"),
    always("changed", boolean, "false when it was so before"),
};

JsonObject render(const LabelledReply& reply) {
    JsonObject result{{"session_id", reply.session_id.text()},
                      {"generation", reply.generation},
                      {"pinned", reply.labels.pinned},
                      {"changed", reply.changed}};
    if (!reply.labels.title.empty()) result["title"] = reply.labels.title;
    return result;
}

void title(Call&& call, Backend& backend) {
    auto given = given_of<title_params>(call);
    Label label;
    label.session_id = given.get<"session_id">();
    label.title = given.get<"title">();
    submit(if_good(given, std::move(label)), std::move(call.respond), backend, render);
}

constexpr std::array pin_params{session_param};

void set_pin(Call&& call, Backend& backend, bool pinned) {
    auto given = given_of<pin_params>(call);
    Label label;
    label.session_id = given.get<"session_id">();
    label.pinned = pinned;
    submit(if_good(given, std::move(label)), std::move(call.respond), backend, render);
}

void pin(Call&& call, Backend& backend) {
    set_pin(std::move(call), backend, /*pinned=*/true);
}

void unpin(Call&& call, Backend& backend) {
    set_pin(std::move(call), backend, /*pinned=*/false);
}

constexpr std::array family{
    Method{"session.title", "give a session a title", title_params, label_result, title,
           /*is_ordered=*/true},
    Method{"session.pin", "keep a session, whatever is cleaned up", pin_params, label_result, pin,
           /*is_ordered=*/true},
    Method{"session.unpin", "remove the pin of a session", pin_params, label_result, unpin,
           /*is_ordered=*/true},
};

}  // namespace

std::span<const Method> session_label_methods() {
    return family;
}

}  // namespace knell::rpc
