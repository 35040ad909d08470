#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "base/check.hpp"

namespace knell {

/// Several short strings in one allocation, that never change: copies share it.  A million open
/// sessions are held in memory; a std::string each for six mostly empty fields would cost 190 bytes
/// before the first letter.
///
/// One thread: the count of copies is a plain number.
template <std::size_t Count>
class PackedText {
  public:
    PackedText() = default;

    explicit PackedText(const std::array<std::string_view, Count>& parts) {
        std::size_t total = sizeof(Header);
        for (const auto part : parts) {
            CHECK(part.size() <= std::numeric_limits<Length>::max());
            total += part.size();
        }
        header_ = new (::operator new(total)) Header;
        char* text = letters();
        for (std::size_t i = 0; i < Count; ++i) {
            header_->lengths[i] = static_cast<Length>(parts[i].size());
            if (parts[i].empty()) continue;
            std::memcpy(text, parts[i].data(), parts[i].size());
            text += parts[i].size();
        }
    }

    PackedText(const PackedText& other) : header_(other.header_) {
        if (header_ != nullptr) ++header_->copies;
    }
    PackedText(PackedText&& other) noexcept : header_(std::exchange(other.header_, nullptr)) {}
    PackedText& operator=(PackedText other) noexcept {
        std::swap(header_, other.header_);
        return *this;
    }
    ~PackedText() {
        if (header_ != nullptr && --header_->copies == 0) ::operator delete(header_);
    }

    std::string_view at(std::size_t index) const {
        if (header_ == nullptr) return {};
        const char* text = letters();
        for (std::size_t i = 0; i < index; ++i) text += header_->lengths[i];
        return {text, header_->lengths[index]};
    }

  private:
    using Length = std::uint16_t;  // every part is bounded by core/limits.hpp
    struct Header {
        std::uint32_t copies = 1;
        std::array<Length, Count> lengths;
    };

    char* letters() const { return reinterpret_cast<char*>(header_ + 1); }

    Header* header_ = nullptr;
};

}  // namespace knell
