#include "rpc/activity_book.hpp"

#include <charconv>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell::rpc {

void ActivityBook::update(std::vector<Sprite> sprites) {
    const auto next = revision_ + 1;
    bool is_changed = false;
    std::unordered_map<std::string, Mark> marks;
    marks.reserve(sprites.size());
    for (const auto& sprite : sprites) {
        const auto before = marks_.find(sprite.key);
        const bool is_same = before != marks_.end() && before->second.hash == sprite.hash;
        marks[sprite.key] = is_same ? before->second : Mark{sprite.hash, next};
        is_changed = is_changed || !is_same;
    }
    for (const auto& sprite : sprites_) {
        if (marks.contains(sprite.key)) continue;
        gone_.push_back({sprite.key, next});
        is_changed = true;
    }
    std::erase_if(gone_, [&marks](const Gone& gone) { return marks.contains(gone.key); });
    while (gone_.size() > limits::space_gone_max) {
        forgotten_ = gone_.front().revision;
        gone_.pop_front();
    }
    sprites_.assign(std::move_iterator(sprites.begin()), std::move_iterator(sprites.end()));
    marks_ = std::move(marks);
    if (is_changed) revision_ = next;
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
    auto hash = hash_of(seen ? "changes" : "whole");
    for (const auto& sprite : sprites_) {
        const auto& mark = marks_.at(sprite.key);
        if (seen && mark.revision <= *seen) continue;
        changes.sprites.push_back(&sprite.facts);
        hash = hash_of(fmt::format("{} {:x}\n", sprite.key, sprite.hash), hash);
    }
    for (const auto& gone : gone_) {
        if (!seen || gone.revision <= *seen) continue;
        changes.gone.emplace_back(gone.key);
        hash = hash_of(fmt::format("-{}\n", gone.key), hash);
    }
    changes.hash = hash;
    return changes;
}

}  // namespace knell::rpc
