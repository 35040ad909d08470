#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "store/search.hpp"

namespace knell {

/// A message that holds the terms.
struct SearchHit {
    std::int64_t doc = 0;
    std::int64_t score = 0;
};

/// Chooses what makes a page of a search, of messages that a store gives in falling order of their
/// numbers: it knows the order, the limit, the cursor and how much may be looked at.  Pure.
class SearchHits {
  public:
    /// The query must outlive it.
    explicit SearchHits(const SearchQuery& query) : query_(query) {}

    /// Only messages with a lower number need be looked at.
    std::int64_t before() const;
    /// Before a message is looked at, and so many bytes of it.  False: no more may be.
    bool may_look_at(std::int64_t doc, std::size_t bytes);
    /// It holds the terms and passes the filters.  False: no more are needed.
    bool add(const SearchHit& hit);

    struct Chosen {
        std::vector<SearchHit> hits;  // in the order of the page
        std::optional<SearchCursor> next;
        bool is_partial = false;
    };
    Chosen choose();

  private:
    static bool is_better(const SearchHit& one, const SearchHit& other) {
        return std::tie(one.score, one.doc) > std::tie(other.score, other.doc);
    }
    bool keep_if_best(const SearchHit& hit);

    const SearchQuery& query_;
    std::vector<SearchHit> hits_;  // of the best first: a heap, the worst on top
    std::size_t looked_at_ = 0;
    std::size_t bytes_ = 0;
    std::int64_t last_doc_ = 0;
    bool is_cut_ = false;   // it was not looked at everything
    bool is_more_ = false;  // of the last first: one more than the limit was found
};

}  // namespace knell
