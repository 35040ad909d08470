#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace knell::net::http {

/// Whether the client takes gzip, by its header Accept-Encoding.
bool accepts_gzip(std::string_view accept_encoding);

/// The same, compressed; nothing when it is too short or too long for that, or hardly shrinks.
std::optional<std::string> gzip_if_it_pays(std::string_view body);

}  // namespace knell::net::http
