#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace knell {

/// One connection of a client, for as long as the daemon runs.
enum class ClientId : std::uint64_t { none = 0 };

/// The name of a session, as clients know it.  Made only by `parse` or from trusted text.
class SessionId {
  public:
    SessionId() = default;
    explicit SessionId(std::string trusted) : text_(std::move(trusted)) {}

    const std::string& text() const { return text_; }
    bool empty() const { return text_.empty(); }
    auto operator<=>(const SessionId&) const = default;

  private:
    std::string text_;
};

/// What is wrong with `text` as a session id, or nothing.  Ids become file names and URL segments,
/// so they are 1 to 200 letters, digits and `._:@+=-`, and do not start with a dot.
std::optional<std::string> why_not_an_id(std::string_view text);

/// Rises each time a session is opened again: the fencing token.
using Generation = std::uint32_t;
/// Place of a session in the order of creation on this node; the key of its row.
using Ordinal = std::int64_t;
/// Place of an event in the log: rises by one, no holes.
using Seq = std::int64_t;

}  // namespace knell

template <>
struct std::hash<knell::SessionId> {
    std::size_t operator()(const knell::SessionId& id) const noexcept {
        return std::hash<std::string>{}(id.text());
    }
};
