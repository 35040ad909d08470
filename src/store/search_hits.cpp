#include "store/search_hits.hpp"

#include <algorithm>
#include <utility>

namespace knell {

std::int64_t SearchHits::before() const {
    const bool is_by_doc = query_.order == SearchOrder::recent && query_.after;
    return is_by_doc ? query_.after->doc : INT64_MAX;
}

bool SearchHits::may_look_at(std::int64_t doc, std::size_t bytes) {
    if (looked_at_ >= query_.candidates_max || bytes_ >= query_.bytes_max) {
        is_cut_ = true;
        return false;
    }
    ++looked_at_;
    bytes_ += bytes;
    last_doc_ = doc;
    return true;
}

bool SearchHits::add(const SearchHit& hit) {
    if (query_.order == SearchOrder::best) return keep_if_best(hit);
    if (hits_.size() == query_.limit) {
        is_more_ = true;
        return false;
    }
    hits_.push_back(hit);
    return true;
}

bool SearchHits::keep_if_best(const SearchHit& hit) {
    const auto& after = query_.after;
    if (after && !is_better({after->doc, after->score}, hit)) return true;
    hits_.push_back(hit);
    std::ranges::push_heap(hits_, is_better);
    // One more than asked for tells whether there is a next page.
    if (hits_.size() > query_.limit + 1) {
        std::ranges::pop_heap(hits_, is_better);
        hits_.pop_back();
    }
    return true;
}

SearchHits::Chosen SearchHits::choose() {
    Chosen chosen{.hits = std::move(hits_), .next = {}, .is_partial = false};
    auto& hits = chosen.hits;
    if (query_.order == SearchOrder::best) {
        std::ranges::sort(hits, is_better);
        is_more_ = hits.size() > query_.limit;
        if (is_more_) hits.pop_back();
        chosen.is_partial = is_cut_;
    } else if (is_cut_) {
        chosen.next = SearchCursor{.score = 0, .doc = last_doc_};
    }
    if (is_more_ && !hits.empty()) chosen.next = SearchCursor{hits.back().score, hits.back().doc};
    return chosen;
}

}  // namespace knell
