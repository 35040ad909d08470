#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rpc/sprite.hpp"

namespace knell::rpc {

/// What was told last, and when each part of it became as it is: so that somebody who saw an
/// earlier picture can be told what is different.
///
/// By content, not by events or times of the record: a status that passes and a message that is
/// counted leave neither.  Each change costs what it changes, however much else there is.  What
/// changes between two calls of `next_revision` has one revision.  One thread.
class ActivityBook {
  public:
    using Revision = std::uint64_t;

    /// What is changed from now on is a change since all that was told before.
    void next_revision() { next_ = revision_ + 1; }
    /// In place of what stood under its key, if anything.  Where it stands is no change by itself.
    void put(Sprite sprite);
    void erase(const std::string& key);
    /// All there is, in a revision of its own.
    void update(std::vector<Sprite> sprites);

    struct Changes {
        bool is_whole = true;                // all there is, rather than what is different
        std::vector<const Sprite*> sprites;  // by their places
        std::vector<std::string_view> gone;  // keys; none of a whole picture
        std::uint64_t hash = 0;              // of all of it
    };
    /// What is different since that revision; nothing: all there is.  So is what is different since
    /// one from so long ago that what is gone since is forgotten.  Until the next change.
    Changes since(std::optional<Revision> seen) const;

    Revision revision() const { return revision_; }
    const Sprite* find(const std::string& key) const;
    /// The one that stands last, if there is any, of the part.
    const Sprite* last() const;
    const Sprite* last_of(SpritePlace::Part part) const;
    std::size_t size() const { return entries_.size(); }
    std::size_t bytes() const { return bytes_; }  // of the texts, each with a comma

    void check_invariants() const;

  private:
    struct Entry {
        Sprite sprite;
        Revision revision = 0;
    };
    using Entries = std::map<SpritePlace, Entry>;

    void insert(Sprite sprite, Revision revision);
    void take_out(Entries::iterator entry);
    void note_gone(const std::string& key);
    void forget_gone(const std::string& key);

    Revision revision_ = 1;
    Revision next_ = 2;
    Revision forgotten_ = 0;  // what went up to this revision may not be known any more
    Entries entries_;
    std::unordered_map<std::string, SpritePlace> places_;     // by key
    std::set<std::pair<Revision, SpritePlace>> by_revision_;  // of all entries
    std::set<std::pair<Revision, std::string>> gone_;         // keys that are not in it
    std::unordered_map<std::string, Revision> gone_at_;       // the same by key
    std::size_t bytes_ = 0;
    std::uint64_t whole_hash_ = 0;  // the sum of all: asked for by everybody who asks again
};

}  // namespace knell::rpc
