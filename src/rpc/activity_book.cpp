#include "rpc/activity_book.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"
#include "core/limits.hpp"

namespace knell::rpc {

void ActivityBook::put(Sprite sprite) {
    auto revision = next_;
    if (const auto before = places_.find(sprite.key); before != places_.end()) {
        const auto entry = entries_.find(before->second);
        if (entry->second.sprite.hash == sprite.hash) revision = entry->second.revision;
        take_out(entry);
    } else {
        forget_gone(sprite.key);
    }
    insert(std::move(sprite), revision);
}

void ActivityBook::insert(Sprite sprite, Revision revision) {
    revision_ = std::max(revision_, revision);
    bytes_ += sprite.text.size() + 1;
    whole_hash_ += sprite.hash;
    const auto place = sprite.place;
    places_.insert_or_assign(sprite.key, place);
    by_revision_.emplace(revision, place);
    const bool is_free = entries_.try_emplace(place, Entry{std::move(sprite), revision}).second;
    CHECK(is_free);
}

void ActivityBook::erase(const std::string& key) {
    const auto place = places_.find(key);
    if (place == places_.end()) return;
    take_out(entries_.find(place->second));
    places_.erase(place);
    note_gone(key);
}

void ActivityBook::update(std::vector<Sprite> sprites) {
    next_revision();
    const auto before = std::exchange(entries_, {});
    const auto places = std::exchange(places_, {});
    by_revision_.clear();
    bytes_ = 0;
    whole_hash_ = 0;
    for (auto& sprite : sprites) {
        auto revision = next_;
        if (const auto found = places.find(sprite.key); found != places.end()) {
            const auto& old = before.at(found->second);
            if (old.sprite.hash == sprite.hash) revision = old.revision;
        } else {
            forget_gone(sprite.key);
        }
        insert(std::move(sprite), revision);
    }
    for (const auto& [key, place] : places) {
        if (!places_.contains(key)) note_gone(key);
    }
}

void ActivityBook::take_out(Entries::iterator entry) {
    const auto& [sprite, revision] = entry->second;
    bytes_ -= sprite.text.size() + 1;
    whole_hash_ -= sprite.hash;
    by_revision_.erase({revision, entry->first});
    entries_.erase(entry);
}

void ActivityBook::note_gone(const std::string& key) {
    revision_ = next_;
    gone_.emplace(next_, key);
    gone_at_.emplace(key, next_);
    while (gone_.size() > limits::space_gone_max) {
        const auto oldest = gone_.begin();
        forgotten_ = oldest->first;
        gone_at_.erase(oldest->second);
        gone_.erase(oldest);
    }
}

void ActivityBook::forget_gone(const std::string& key) {
    const auto found = gone_at_.find(key);
    if (found == gone_at_.end()) return;
    gone_.erase({found->second, key});
    gone_at_.erase(found);
}

const Sprite* ActivityBook::find(const std::string& key) const {
    const auto place = places_.find(key);
    return place == places_.end() ? nullptr : &entries_.at(place->second).sprite;
}

const Sprite* ActivityBook::last() const {
    return entries_.empty() ? nullptr : &entries_.rbegin()->second.sprite;
}

const Sprite* ActivityBook::last_of(SpritePlace::Part part) const {
    const auto behind = entries_.lower_bound(
        {static_cast<SpritePlace::Part>(static_cast<int>(part) + 1), INT64_MIN, INT64_MIN});
    if (behind == entries_.begin()) return nullptr;
    const auto& sprite = std::prev(behind)->second.sprite;
    return sprite.place.part == part ? &sprite : nullptr;
}

ActivityBook::Changes ActivityBook::since(std::optional<Revision> seen) const {
    if (!seen || *seen < forgotten_ || *seen > revision_) {
        Changes whole{.hash = hash_of("whole") + whole_hash_};
        whole.sprites.reserve(entries_.size());
        for (const auto& [place, entry] : entries_) whole.sprites.push_back(&entry.sprite);
        return whole;
    }
    Changes changes{.is_whole = false, .hash = hash_of("changes")};
    const auto first =
        by_revision_.lower_bound({*seen + 1, {SpritePlace::Part::ended, INT64_MIN, INT64_MIN}});
    for (auto one = first; one != by_revision_.end(); ++one) {
        changes.sprites.push_back(&entries_.at(one->second).sprite);
        changes.hash += changes.sprites.back()->hash;
    }
    std::ranges::sort(changes.sprites, {}, &Sprite::place);
    for (auto one = gone_.lower_bound({*seen + 1, ""}); one != gone_.end(); ++one) {
        changes.gone.emplace_back(one->second);
        changes.hash += hash_of(one->second, hash_of("gone"));
    }
    return changes;
}

void ActivityBook::check_invariants() const {
    CHECK(entries_.size() == places_.size());
    CHECK(entries_.size() == by_revision_.size());
    CHECK(gone_.size() == gone_at_.size());
    std::size_t bytes = 0;
    std::uint64_t hash = 0;
    for (const auto& [place, entry] : entries_) {
        const auto& [sprite, revision] = entry;
        CHECK(sprite.place == place);
        CHECK(places_.at(sprite.key) == place);
        CHECK(by_revision_.contains({revision, place}));
        CHECK(!gone_at_.contains(sprite.key));
        bytes += sprite.text.size() + 1;
        hash += sprite.hash;
    }
    CHECK(bytes == bytes_);
    CHECK(hash == whole_hash_);
}

}  // namespace knell::rpc
