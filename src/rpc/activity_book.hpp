#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rpc/sprite.hpp"

namespace knell::rpc {

/// What was told last, and when each part of it became as it is: so that somebody who saw an
/// earlier picture can be told what is different.
///
/// By content, not by events or times of the record: a status that passes and a message that is
/// counted leave neither.  A place in it is "BOOK-REVISION"; one of another book, or from so long
/// ago that what is gone since is forgotten, gives the whole picture.  One thread.
class ActivityBook {
  public:
    /// `name` is of this daemon's life: a revision of another says nothing here.
    explicit ActivityBook(std::string name) : name_(std::move(name)) {}

    /// All there is now, in the order in which it is told.
    void update(std::vector<Sprite> sprites);

    struct Changes {
        bool is_whole = true;  // all there is, rather than what is different
        std::vector<const JsonObject*> sprites;
        std::vector<std::string_view> gone;  // keys; none of a whole picture
        std::uint64_t hash = 0;              // of all of it
    };
    /// What is different since that place; "" is no place.  Until the next update.
    Changes since(std::string_view place) const;

    /// The place of the picture as it is.
    std::string place() const;
    std::uint64_t revision() const { return revision_; }
    const std::deque<Sprite>& sprites() const { return sprites_; }

  private:
    struct Mark {
        std::uint64_t hash = 0;  // of its facts
        std::uint64_t revision = 0;
    };
    struct Gone {
        std::string key;
        std::uint64_t revision = 0;
    };

    void note_gone(const std::unordered_map<std::string, Mark>& marks, std::uint64_t revision);
    /// Nothing: the whole picture is to be told.
    std::optional<std::uint64_t> revision_at(std::string_view place) const;

    const std::string name_;
    std::uint64_t revision_ = 1;
    std::uint64_t forgotten_ = 0;  // what went up to this revision may not be known any more
    std::deque<Sprite> sprites_;
    std::vector<std::uint64_t> revisions_;         // of each of them
    std::uint64_t whole_hash_ = hash_of("whole");  // asked for by everybody who asks again
    std::unordered_map<std::string, Mark> marks_;  // by key
    std::deque<Gone> gone_;                        // rising
};

}  // namespace knell::rpc
