#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <unordered_set>

#include "engine/packed_text.hpp"

namespace knell {

/// Texts that many live sessions have in common: the same ones share one allocation for as long as
/// somebody has a copy.  Those that nobody has any more go when as many new ones came as were
/// shared at the last look, so that a look costs each of them little.
class TextPool {
  public:
    PackedText share(PackedText text) {
        if (const auto found = texts_.find(text); found != texts_.end()) return *found;
        if (texts_.size() >= look_at_) {
            std::erase_if(texts_, [](const PackedText& one) { return !one.is_shared(); });
            look_at_ = std::max(look_at_min, 2 * texts_.size());
        }
        return *texts_.insert(std::move(text)).first;
    }
    std::size_t size() const { return texts_.size(); }

    static constexpr std::size_t look_at_min = 64;

  private:
    struct Hash {
        std::size_t operator()(const PackedText& text) const {
            return std::hash<std::string_view>{}(text.bytes());
        }
    };

    std::unordered_set<PackedText, Hash> texts_;
    std::size_t look_at_ = look_at_min;
};

}  // namespace knell
