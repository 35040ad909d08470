#include "deliver/webhook/cloud_event.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "wire/json.hpp"

namespace knell {

namespace {

/// "session:end" -> "dev.knell.session.end.v1"
std::string cloud_event_type(std::string_view type) {
    auto name = fmt::format("dev.knell.{}.v1", type);
    std::ranges::replace(name, ':', '.');
    return name;
}

/// A URI reference; what could not stand in one is percent-encoded.
std::string source_of(std::string_view node_id) {
    std::string source = "/knell/";
    for (const auto c : node_id) {
        const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || std::string_view("-._~").contains(c);
        source +=
            unreserved ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return source;
}

}  // namespace

std::string cloud_event(const RenderedEvent& rendered, std::string_view node_id) {
    JsonObject attributes;
    attributes["specversion"] = "1.0";
    attributes["id"] = rendered.id;
    attributes["source"] = source_of(node_id);
    attributes["type"] = cloud_event_type(rendered.type);
    if (!rendered.session_id.empty()) attributes["subject"] = rendered.session_id;
    attributes["time"] = rendered.time;
    attributes["datacontenttype"] = "application/json";
    attributes["sequence"] = std::to_string(rendered.seq);

    // The event goes in as it was written: read and written again, it might not be the same bytes.
    auto text = wire::to_text(attributes);
    text.pop_back();
    return text + R"(,"data":)" + rendered.json + "}";
}

}  // namespace knell
