#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

#include "base/check.hpp"

namespace knell {

/// Several short strings in one allocation.  A million open sessions are held in memory; a
/// std::string each for six mostly empty fields would cost 190 bytes before the first letter.
template <std::size_t Count>
class PackedText {
  public:
    PackedText() = default;

    explicit PackedText(const std::array<std::string_view, Count>& parts) {
        std::size_t total = header_bytes;
        for (const auto part : parts) {
            CHECK(part.size() <= std::numeric_limits<Length>::max());
            total += part.size();
        }
        packed_ = std::make_unique_for_overwrite<char[]>(total);
        char* text = packed_.get() + header_bytes;
        for (std::size_t i = 0; i < Count; ++i) {
            const auto length = static_cast<Length>(parts[i].size());
            std::memcpy(packed_.get() + i * sizeof length, &length, sizeof length);
            if (length == 0) continue;
            std::memcpy(text, parts[i].data(), length);
            text += length;
        }
    }

    PackedText(const PackedText& other) { *this = other; }
    PackedText& operator=(const PackedText& other) {
        if (this == &other) return *this;
        packed_.reset();
        if (other.packed_ == nullptr) return *this;
        const auto total = other.bytes();
        packed_ = std::make_unique_for_overwrite<char[]>(total);
        std::memcpy(packed_.get(), other.packed_.get(), total);
        return *this;
    }
    PackedText(PackedText&&) noexcept = default;
    PackedText& operator=(PackedText&&) noexcept = default;
    ~PackedText() = default;

    std::string_view at(std::size_t index) const {
        if (packed_ == nullptr) return {};
        const char* text = packed_.get() + header_bytes;
        for (std::size_t i = 0; i < index; ++i) text += length_of(i);
        return {text, length_of(index)};
    }

  private:
    using Length = std::uint16_t;  // every part is bounded by core/limits.hpp
    static constexpr std::size_t header_bytes = Count * sizeof(Length);

    Length length_of(std::size_t index) const {
        Length length = 0;
        std::memcpy(&length, packed_.get() + index * sizeof length, sizeof length);
        return length;
    }

    std::size_t bytes() const {
        std::size_t total = header_bytes;
        for (std::size_t i = 0; i < Count; ++i) total += length_of(i);
        return total;
    }

    std::unique_ptr<char[]> packed_;
};

}  // namespace knell
