#include "rpc/metric_text.hpp"

#include "base/check.hpp"

namespace knell::rpc {

namespace {

/// Names of hooks and reasons are ours, but a version may hold anything.
void append_escaped(std::string& out, std::string_view text, bool in_quotes) {
    for (const char c : text) {
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '"' && in_quotes) {
            out += "\\\"";
        } else {
            out += c;
        }
    }
}

}  // namespace

MetricText& MetricText::gauge(std::string_view name, std::string_view help) {
    begin(name, help, "gauge");
    return *this;
}

MetricText& MetricText::counter(std::string_view name, std::string_view help) {
    CHECK(name.ends_with("_total"));
    begin(name, help, "counter");
    return *this;
}

void MetricText::begin(std::string_view name, std::string_view help, std::string_view type) {
    name_ = name;
    head_ = fmt::format("# HELP {} ", name);
    append_escaped(head_, help, /*in_quotes=*/false);
    head_ += fmt::format("\n# TYPE {} {}\n", name, type);
}

void MetricText::add(std::string_view value, Labels labels) {
    text_ += std::exchange(head_, {});
    text_ += name_;
    char before = '{';
    for (const auto& [label, said] : labels) {
        text_ += std::exchange(before, ',');
        text_ += label;
        text_ += "=\"";
        append_escaped(text_, said, /*in_quotes=*/true);
        text_ += '"';
    }
    if (labels.size() > 0) text_ += '}';
    text_ += fmt::format(" {}\n", value);
}

}  // namespace knell::rpc
