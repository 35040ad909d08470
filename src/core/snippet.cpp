#include "core/snippet.hpp"

#include <algorithm>
#include <optional>

#include "core/read_limits.hpp"
#include "core/words.hpp"

namespace knell {

namespace {

/// Of what stands before the first mark.
constexpr std::size_t lead_bytes = 40;
constexpr std::string_view ellipsis = "…";

bool continues(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80;
}
bool is_blank(char32_t value) {
    return value <= 0x20 || value == 0x7F || (value >= 0x80 && value <= 0xA0) || value == 0x2028 ||
           value == 0x2029;
}

/// The span from which on most of them fit into one snippet.
std::size_t densest(std::span<const TextSpan> spans) {
    std::size_t best = 0;
    std::size_t best_count = 0;
    std::size_t last = 0;
    for (std::size_t first = 0; first < spans.size(); ++first) {
        const auto end =
            spans[first].begin + std::size_t{limits::snippet_characters_max} - lead_bytes;
        last = std::max(last, first);
        while (last < spans.size() && spans[last].end <= end) ++last;
        if (last - first > best_count) {
            best = first;
            best_count = last - first;
        }
    }
    return best;
}

/// So many bytes before that place, at a blank if there is one, or else at the beginning of a
/// character; where all of the text has room, at its beginning.
std::size_t begin_before(std::string_view text, std::size_t place) {
    const bool fits = text.size() <= std::size_t{limits::snippet_characters_max};
    if (fits || place <= lead_bytes) return 0;
    auto begin = place - lead_bytes;
    const auto blank = text.find_first_of(" \n\t", begin);
    if (blank < place) return blank + 1;
    while (begin < place && continues(text[begin])) ++begin;
    return begin;
}

/// Writes one character after the other, and where the marks begin and end.
class SnippetText {
  public:
    void add(std::string_view character, bool is_marked) {
        if (is_marked && !mark_) mark_ = Snippet::Mark{.start = count_, .length = 0};
        if (!is_marked) end_mark();
        snippet_.text += character;
        ++count_;
    }
    void add_blank(bool is_marked) {
        if (!snippet_.text.empty() && !snippet_.text.ends_with(' ')) add(" ", is_marked);
    }
    std::int64_t count() const { return count_; }
    Snippet finish(bool is_cut) {
        end_mark();
        while (snippet_.text.ends_with(' ') && (snippet_.marks.empty() || !ends_in_mark())) {
            snippet_.text.pop_back();
            --count_;
        }
        if (is_cut) snippet_.text += ellipsis;
        return std::move(snippet_);
    }

  private:
    bool ends_in_mark() const {
        const auto& last = snippet_.marks.back();
        return last.start + last.length == count_;
    }
    void end_mark() {
        if (!mark_) return;
        mark_->length = count_ - mark_->start;
        snippet_.marks.push_back(*mark_);
        mark_.reset();
    }

    Snippet snippet_;
    std::int64_t count_ = 0;
    std::optional<Snippet::Mark> mark_;
};

}  // namespace

Snippet make_snippet(std::string_view text, std::span<const TextSpan> spans) {
    const auto first = densest(spans);
    auto at = spans.empty() ? 0 : begin_before(text, spans[first].begin);
    // A long one before may reach into it.
    auto span = spans.begin();
    SnippetText snippet;
    if (at > 0) snippet.add(ellipsis, /*is_marked=*/false);
    while (at < text.size() && snippet.count() < limits::snippet_characters_max) {
        const auto one = first_code_point(text.substr(at));
        const auto bytes = std::max<std::size_t>(one.bytes, 1);
        while (span != spans.end() && span->end <= at) ++span;
        const bool is_marked = span != spans.end() && span->begin <= at;
        if (one.bytes == 0) {
            snippet.add("\uFFFD", is_marked);
        } else if (is_blank(one.value)) {
            snippet.add_blank(is_marked);
        } else {
            snippet.add(text.substr(at, bytes), is_marked);
        }
        at += bytes;
    }
    return snippet.finish(/*is_cut=*/at < text.size());
}

}  // namespace knell
