#pragma once

#include <string>
#include <string_view>

#include "deliver/rendered_event.hpp"

namespace knell {

inline constexpr std::string_view cloud_event_content_type =
    "application/cloudevents+json; charset=utf-8";

/// The event as CloudEvents 1.0 JSON in structured mode: the attributes are in the body, because
/// `ce-` headers would be outside of what a webhook's signature covers.
std::string cloud_event(const RenderedEvent& rendered, std::string_view node_id);

}  // namespace knell
