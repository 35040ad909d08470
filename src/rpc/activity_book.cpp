#include "rpc/activity_book.hpp"

#include <charconv>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell::rpc {

namespace {

std::uint64_t add_to(std::uint64_t hash, const Sprite& sprite) {
    return hash_of(fmt::format("{} {:x}\n", sprite.key, sprite.hash), hash);
}

}  // namespace

void ActivityBook::update(std::vector<Sprite> sprites) {
    const auto next = revision_ + 1;
    std::unordered_map<std::string, Mark> marks;
    marks.reserve(sprites.size());
    revisions_.clear();
    whole_hash_ = hash_of("whole");
    for (const auto& sprite : sprites) {
        const auto before = marks_.find(sprite.key);
        const bool is_same = before != marks_.end() && before->second.hash == sprite.hash;
        const auto mark = is_same ? before->second : Mark{sprite.hash, next};
        if (!is_same) revision_ = next;
        marks[sprite.key] = mark;
        revisions_.push_back(mark.revision);
        whole_hash_ = add_to(whole_hash_, sprite);
    }
    note_gone(marks, next);
    sprites_.assign(std::move_iterator(sprites.begin()), std::move_iterator(sprites.end()));
    marks_ = std::move(marks);
}

void ActivityBook::note_gone(const std::unordered_map<std::string, Mark>& marks,
                             std::uint64_t revision) {
    for (const auto& sprite : sprites_) {
        if (marks.contains(sprite.key)) continue;
        gone_.push_back({sprite.key, revision});
        revision_ = revision;
    }
    std::erase_if(gone_, [&marks](const Gone& gone) { return marks.contains(gone.key); });
    while (gone_.size() > limits::space_gone_max) {
        forgotten_ = gone_.front().revision;
        gone_.pop_front();
    }
}

std::string ActivityBook::place() const {
    return fmt::format("{}-{}", name_, revision_);
}

std::optional<std::uint64_t> ActivityBook::revision_at(std::string_view place) const {
    const auto dash = place.rfind('-');
    if (dash == std::string_view::npos || place.substr(0, dash) != name_) return std::nullopt;
    const auto digits = place.substr(dash + 1);
    std::uint64_t revision = 0;
    const auto* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, revision);
    if (error != std::errc{} || stop != end) return std::nullopt;
    if (revision < forgotten_ || revision > revision_) return std::nullopt;
    return revision;
}

ActivityBook::Changes ActivityBook::since(std::string_view place) const {
    const auto seen = revision_at(place);
    Changes changes{.is_whole = !seen};
    if (!seen) {
        changes.sprites.reserve(sprites_.size());
        for (const auto& sprite : sprites_) changes.sprites.push_back(&sprite.facts);
        changes.hash = whole_hash_;
        return changes;
    }
    changes.hash = hash_of("changes");
    for (std::size_t i = 0; i < sprites_.size(); ++i) {
        if (revisions_[i] <= *seen) continue;
        changes.sprites.push_back(&sprites_[i].facts);
        changes.hash = add_to(changes.hash, sprites_[i]);
    }
    for (const auto& gone : gone_) {
        if (gone.revision <= *seen) continue;
        changes.gone.emplace_back(gone.key);
        changes.hash = hash_of(fmt::format("-{}\n", gone.key), changes.hash);
    }
    return changes;
}

}  // namespace knell::rpc
