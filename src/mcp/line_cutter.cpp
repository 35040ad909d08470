#include "mcp/line_cutter.hpp"

namespace knell::mcp {

void LineCutter::add(std::string_view bytes) {
    bytes_ += bytes;
}

LineCutter::Cut LineCutter::next(std::string& line) {
    for (;;) {
        const auto end = bytes_.find('\n', searched_);
        if (end == std::string::npos) {
            searched_ = bytes_.size();
            if (skipping_ || bytes_.size() - taken_ > line_bytes_max_) {
                skipping_ = true;
                taken_ = bytes_.size();
            }
            drop_taken();
            return Cut::none;
        }
        const auto begin = taken_;
        taken_ = searched_ = end + 1;
        const bool was_skipped = skipping_;
        skipping_ = false;
        if (was_skipped || end - begin > line_bytes_max_) return Cut::too_long;
        line.assign(bytes_, begin, end - begin);
        return Cut::line;
    }
}

void LineCutter::drop_taken() {
    bytes_.erase(0, taken_);
    searched_ -= taken_;
    taken_ = 0;
}

}  // namespace knell::mcp
