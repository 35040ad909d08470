#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "core/ids.hpp"

namespace knell {

/// A session id in few bytes: that of a UUID, as nearly all are, is its 16 bytes behind a zero,
/// which no id holds; any other is its text.  `id` must live as long as this does.
class PackedId {
  public:
    explicit PackedId(std::string_view id) : text_(id) {
        const auto uuid = parse_uuid(id);
        if (!uuid) return;
        std::ranges::copy(*uuid, uuid_.begin() + 1);
        is_uuid_ = true;
    }

    std::string_view bytes() const {
        return is_uuid_ ? std::string_view(uuid_.data(), uuid_.size()) : text_;
    }

    static SessionId unpack(std::string_view bytes) {
        const bool is_uuid = bytes.size() == sizeof(UuidBytes) + 1 && bytes.front() == '\0';
        if (!is_uuid) return SessionId(std::string(bytes));
        UuidBytes uuid{};
        std::ranges::copy(bytes.substr(1), uuid.begin());
        return SessionId(uuid_text(uuid));
    }

  private:
    std::string_view text_;
    std::array<char, sizeof(UuidBytes) + 1> uuid_{};
    bool is_uuid_ = false;
};

}  // namespace knell
