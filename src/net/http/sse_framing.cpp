#include "net/http/sse_framing.hpp"

#include <fmt/format.h>

#include "net/http/problem.hpp"

namespace knell::net::http {

namespace {

// JSON on one line has no line end inside, so nothing in it can look like another field.

void append_event(std::string& out, const Event& event, std::string_view node_id) {
    fmt::format_to(std::back_inserter(out), "id: {}\nevent: {}\ndata: ", event.seq,
                   name_in(event_type_names, event.type));
    wire::append_event(out, event, node_id);
    out += "\n\n";
}

void append_gap(std::string& out, Seq from, Seq to) {
    fmt::format_to(std::back_inserter(out),
                   "id: {}\nevent: gap\ndata: {{\"from\":{},\"to\":{}}}\n\n", to, from, to);
}

void append_error(std::string& out, const Error& why) {
    out += "event: problem\ndata: " + problem_of(why).body + "\n";
}

}  // namespace

constinit const wire::Framing sse_framing{.end = "\n\n",
                                          .append_event = append_event,
                                          .append_gap = append_gap,
                                          .append_error = append_error};

}  // namespace knell::net::http
