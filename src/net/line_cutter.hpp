#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "net/memory_budget.hpp"

namespace knell::net {

/// Bytes as they come to whole lines.  Of a line that is not whole yet no more than `bytes_max` is
/// kept, and counted against what all clients together may leave half said.
class LineCutter {
  public:
    LineCutter(std::size_t bytes_max, MemoryBudget& half_read)
        : bytes_max_(bytes_max), share_(half_read) {}

    /// `take` is called with each line, without its end.  False at a line that is too long: what
    /// follows cannot be told apart any more.
    template <typename Take>
    [[nodiscard]] bool cut(std::string_view bytes, Take&& take) {
        while (!bytes.empty()) {
            const auto end = bytes.find('\n');
            const auto piece = bytes.substr(0, end);
            if (partial_.size() + piece.size() > bytes_max_) return false;
            if (end == std::string_view::npos) {
                partial_ += piece;
                share_.set(partial_.size());
                return true;
            }
            if (partial_.empty()) {
                take(piece);
            } else {
                partial_ += piece;
                take(take_rest());
            }
            bytes.remove_prefix(end + 1);
        }
        return true;
    }

    /// What has no end yet; it is forgotten here.
    std::string take_rest() {
        share_.set(0);
        return std::exchange(partial_, {});
    }
    std::size_t size() const { return partial_.size(); }

  private:
    const std::size_t bytes_max_;
    BudgetShare share_;
    std::string partial_;
};

}  // namespace knell::net
