#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "base/check.hpp"

namespace knell {

/// Several short strings in one allocation, that never change: copies share it.  Those at the end
/// that are empty cost nothing.  A million open sessions are held in memory; a std::string each for
/// nine mostly empty fields would cost 290 bytes before the first letter.
///
/// One thread: the count of copies is a plain number.
class PackedText {
  public:
    PackedText() = default;

    explicit PackedText(std::span<const std::string_view> parts) {
        while (!parts.empty() && parts.back().empty()) parts = parts.first(parts.size() - 1);
        std::size_t total = sizeof(Header) + parts.size() * sizeof(Length);
        for (const auto part : parts) {
            CHECK(part.size() <= std::numeric_limits<Length>::max());
            total += part.size();
        }
        header_ = new (::operator new(total)) Header{1, static_cast<std::uint16_t>(parts.size())};
        char* text = letters();
        for (std::size_t i = 0; i < parts.size(); ++i) {
            lengths()[i] = static_cast<Length>(parts[i].size());
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
        if (header_ == nullptr || index >= header_->count) return {};
        const char* text = letters();
        for (std::size_t i = 0; i < index; ++i) text += lengths()[i];
        return {text, lengths()[index]};
    }

    /// Whether there is more than one copy.
    bool is_shared() const { return header_ != nullptr && header_->copies > 1; }
    /// The same for the same parts, and for no others.
    std::string_view bytes() const {
        if (header_ == nullptr) return {};
        std::size_t size = header_->count * sizeof(Length);
        for (std::size_t i = 0; i < header_->count; ++i) size += lengths()[i];
        return {reinterpret_cast<const char*>(lengths()), size};
    }
    friend bool operator==(const PackedText& a, const PackedText& b) {
        return a.parts() == b.parts() && a.bytes() == b.bytes();
    }

  private:
    using Length = std::uint16_t;  // every part is bounded by core/limits.hpp
    struct Header {
        std::uint32_t copies;
        std::uint16_t count;  // of the lengths that follow, and after them the letters
    };

    std::size_t parts() const { return header_ == nullptr ? 0 : header_->count; }
    Length* lengths() const { return reinterpret_cast<Length*>(header_ + 1); }
    char* letters() const { return reinterpret_cast<char*>(lengths() + header_->count); }

    Header* header_ = nullptr;
};

}  // namespace knell
