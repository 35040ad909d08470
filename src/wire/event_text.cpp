#include "wire/event_text.hpp"

#include <fmt/format.h>

#include "wire/fields.hpp"
#include "wire/session_json.hpp"
#include "wire/text_sink.hpp"

namespace knell::wire {

void append_event(std::string& out, const Event& event, std::string_view node_id) {
    TextSink sink(out);
    list_fields(sink, event, node_id);
    sink.finish();
}

void append_event_line(std::string& out, const Event& event, std::string_view node_id) {
    out += R"({"jsonrpc":"2.0","method":"event","params":)";
    append_event(out, event, node_id);
    out += "}\n";
}

void append_gap_line(std::string& out, Seq from, Seq to) {
    fmt::format_to(std::back_inserter(out),
                   R"({{"jsonrpc":"2.0","method":"gap","params":{{"from":{},"to":{}}}}})"
                   "\n",
                   from, to);
}

std::string test_event_text(const Event& event, std::string_view node_id, std::string_view id) {
    auto object = to_json(event, node_id);
    object["id"] = id;
    object["test"] = true;
    return to_text(object);
}

}  // namespace knell::wire
