#include "rpc/activity.hpp"

#include <charconv>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "rpc/gateway_sprites.hpp"

namespace knell::rpc {

namespace {

using Part = SpritePlace::Part;

/// A picture that lacks some for want of room is made anew once so much of it is free.
constexpr std::size_t room_to_fill = limits::space_bytes_max / 8;

WallTime told_at_of(const Sprite& ended) {
    return from_millis(-ended.place.rank);
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end;
}

/// Collects sprites, up to what an answer can hold.
class Picture {
  public:
    /// False once it is full.
    bool add(Sprite sprite) {
        bytes_ += sprite.text.size() + 1;
        if (bytes_ > limits::space_bytes_max) return false;
        sprites_.push_back(std::move(sprite));
        return true;
    }
    std::size_t size() const { return sprites_.size(); }
    std::vector<Sprite> take() { return std::move(sprites_); }

  private:
    std::vector<Sprite> sprites_;
    std::size_t bytes_ = 0;
};

/// False: there were more than fit.
Result<bool> add_open(Picture& picture, Reader& reader, std::string_view node) {
    SessionQuery query{.ended = false,
                       .all = true,
                       .limit = limits::list_page_max,
                       .before = std::nullopt,
                       .bytes_max = limits::page_bytes_max};
    do {
        const auto page = reader.list(query);
        if (!page) return std::unexpected(page.error());
        for (const auto& session : page->sessions) {
            if (!picture.add(sprite_of(session, node))) return false;
        }
        query.before = page->next;
    } while (query.before);
    return true;
}

}  // namespace

Result<ChangedSessions> Activity::take_changed(Reader& reader) {
    // In this order: what is written in between is noted for the next time.
    auto [changed, was_writing] = notes_.take();
    const auto version = reader.data_version();
    if (!version) return std::unexpected(version.error());
    // Another program wrote, as far as that can be told: our own writer did not.
    if (std::exchange(data_version_, *version) != *version && !was_writing) changed = {};
    return std::move(changed);
}

Result<void> Activity::look(Reader& reader, WallTime now) {
    const auto changed = take_changed(reader);
    if (!changed) return std::unexpected(changed.error());
    // A clock that was set back makes what is long over look new.
    const bool is_good = std::exchange(is_known_, false) && changed->is_known && now >= looked_at_;
    if (is_good) {
        own_.next_revision();
        if (!changed->ended_at_of.empty()) {
            // As of one moment: who sees a child start sees its parent end.
            auto read = reader.at_one_moment([&] { return look_at(*changed, reader, now); });
            if (!read) return read;
        }
        drop_old(now);
    }
    const bool has_room = own_.bytes() + room_to_fill < limits::space_bytes_max;
    if (!is_good || (own_is_truncated_ && has_room)) {
        // One that ends between two reads would be in neither.
        auto read = reader.at_one_moment([&] { return look_anew(reader, now); });
        if (!read) return read;
    }
    is_known_ = true;
    looked_at_ = now;
    return {};
}

Result<void> Activity::look_anew(Reader& reader, WallTime now) {
    const auto ended = reader.ended_lately(now - limits::space_window, limits::space_ended_max);
    if (!ended) return std::unexpected(ended.error());
    Picture picture;
    bool has_room = true;
    for (const auto& [session, told_at] : *ended) {
        has_room = has_room && picture.add(sprite_of(session, node_, told_at));
    }
    ended_ = picture.size();
    const auto fit = has_room ? add_open(picture, reader, node_) : Result<bool>{false};
    if (!fit) return std::unexpected(fit.error());
    own_is_truncated_ = !*fit;
    own_.update(picture.take());
    return {};
}

Result<void> Activity::look_at(const ChangedSessions& changed, Reader& reader, WallTime now) {
    for (const auto& [id, told_at] : changed.ended_at_of) {
        const auto session = reader.find(id);
        if (!session) return std::unexpected(session.error());
        const auto* before = own_.find(id.text());
        const bool was_ended = before != nullptr && before->place.part == Part::ended;
        const auto known = told_at     ? told_at
                           : was_ended ? std::optional(told_at_of(*before))
                                       : std::nullopt;
        if (was_ended) --ended_;
        const bool is_shown = *session && (!(*session)->end || known);
        if (!is_shown) {
            own_.erase(id.text());
            continue;
        }
        if ((*session)->end) ++ended_;
        own_.put(sprite_of(**session, node_, known.value_or(now)));
    }
    keep_to_size();
    return {};
}

void Activity::drop_old(WallTime now) {
    const auto is_old = [&](const Sprite& ended) {
        return told_at_of(ended) < now - limits::space_window;
    };
    for (const auto* ended = own_.last_of(Part::ended);
         ended != nullptr && (ended_ > limits::space_ended_max || is_old(*ended));
         ended = own_.last_of(Part::ended)) {
        own_.erase(std::string(ended->key));
        --ended_;
    }
}

void Activity::keep_to_size() {
    while (own_.bytes() > limits::space_bytes_max) {
        if (own_.last()->place.part == Part::ended) --ended_;
        own_.erase(std::string(own_.last()->key));
        own_is_truncated_ = true;
    }
}

void Activity::look_at(const std::vector<GatewayReport>& gateways) {
    std::vector<std::uint64_t> versions;
    for (const auto& gateway : gateways) {
        versions.push_back(hash_of(gateway.name, gateway.version));
    }
    const auto room = limits::space_bytes_max - own_.bytes();
    const bool fits = others_are_truncated_ ? room == others_room_ : others_.bytes() <= room;
    if (versions == others_are_ && fits) return;
    auto [sprites, is_truncated] = gateway_sprites(node_, gateways, room);
    others_.update(std::move(sprites));
    others_are_truncated_ = is_truncated;
    others_room_ = room;
    others_are_ = std::move(versions);
}

std::string Activity::place_of(bool with_others) const {
    if (!with_others) return fmt::format("{}o-{}", life_, own_.revision());
    return fmt::format("{}a-{}.{}", life_, own_.revision(), others_.revision());
}

std::optional<std::pair<Activity::Revision, Activity::Revision>> Activity::read_place(
    std::string_view place, bool with_others) const {
    const auto name = fmt::format("{}{}-", life_, with_others ? 'a' : 'o');
    if (!place.starts_with(name)) return std::nullopt;
    place.remove_prefix(name.size());
    const auto dot = with_others ? place.find('.') : place.size();
    if (dot == std::string_view::npos) return std::nullopt;
    std::pair<Revision, Revision> seen;
    if (!read_number(place.substr(0, dot), seen.first)) return std::nullopt;
    if (with_others && !read_number(place.substr(dot + 1), seen.second)) return std::nullopt;
    return seen;
}

Result<Activity::View> Activity::own(Reader& reader, WallTime now, std::string_view place) {
    if (auto looked = look(reader, now); !looked) return std::unexpected(looked.error());
    const auto seen = read_place(place, /*with_others=*/false);
    auto changes = own_.since(seen ? std::optional(seen->first) : std::nullopt);
    const auto hash = changes.hash;
    const bool is_whole = changes.is_whole;
    return View{.own = std::move(changes),
                .others = {},
                .is_whole = is_whole,
                .is_truncated = own_is_truncated_,
                .hash = hash,
                .next = place_of(/*with_others=*/false)};
}

Result<Activity::View> Activity::all(Reader& reader, WallTime now,
                                     const std::vector<GatewayReport>& gateways,
                                     std::string_view place) {
    if (auto looked = look(reader, now); !looked) return std::unexpected(looked.error());
    look_at(gateways);
    View view{.is_truncated = own_is_truncated_ || others_are_truncated_,
              .next = place_of(/*with_others=*/true)};
    if (const auto seen = read_place(place, /*with_others=*/true)) {
        view.own = own_.since(seen->first);
        view.others = others_.since(seen->second);
        view.is_whole = view.own.is_whole || view.others.is_whole;
    }
    if (view.is_whole) {
        view.own = own_.since(std::nullopt);
        view.others = others_.since(std::nullopt);
    }
    view.hash = hash_of(fmt::format("{:x}", view.own.hash), view.others.hash);
    return view;
}

}  // namespace knell::rpc
