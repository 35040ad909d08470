#include "rpc/activity.hpp"

#include <algorithm>

#include "core/limits.hpp"
#include "rpc/merged_sprites.hpp"

namespace knell::rpc {

namespace {

/// Collects sprites, up to what an answer can hold.
class Picture {
  public:
    /// False once it is full.
    bool add(const Session& session, std::string_view node) {
        auto sprite = sprite_of(session, node);
        bytes_ += sprite.bytes + 1;
        if (bytes_ > limits::space_bytes_max) return false;
        sprites_.push_back(std::move(sprite));
        return true;
    }
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
            if (!picture.add(session, node)) return false;
        }
        query.before = page->next;
    } while (query.before);
    return true;
}

}  // namespace

Result<void> Activity::look(Reader& reader, WallTime now) {
    const auto version = reader.data_version();
    if (!version) return std::unexpected(version.error());
    // A clock that was set back makes what is long over look new.
    if (data_version_ == *version && now >= looked_at_ && now < good_until_) return {};
    // One that ends between the two reads would be in neither.
    auto looked = reader.at_one_moment([&] { return look_anew(reader, now); });
    if (!looked) return looked;
    data_version_ = *version;
    looked_at_ = now;
    return {};
}

Result<void> Activity::look_anew(Reader& reader, WallTime now) {
    const auto ended = reader.ended_lately(now - limits::space_window, limits::space_ended_max);
    if (!ended) return std::unexpected(ended.error());
    Picture picture;
    bool has_room = true;
    good_until_ = now + limits::space_window;
    for (const auto& [session, told_at] : *ended) {
        has_room = has_room && picture.add(session, node_);
        good_until_ = std::min(good_until_, told_at + limits::space_window);
    }
    const auto fit = add_open(picture, reader, node_);
    if (!fit) return std::unexpected(fit.error());
    own_is_truncated_ = !*fit || !has_room;
    own_.update(picture.take());
    return {};
}

Result<Activity::View> Activity::own(Reader& reader, WallTime now) {
    if (auto looked = look(reader, now); !looked) return std::unexpected(looked.error());
    return View{&own_, own_is_truncated_};
}

Result<Activity::View> Activity::all(Reader& reader, WallTime now,
                                     const std::vector<GatewayReport>& gateways) {
    if (auto looked = look(reader, now); !looked) return std::unexpected(looked.error());
    std::vector<std::uint64_t> made_of{own_.revision()};
    for (const auto& gateway : gateways) made_of.push_back(hash_of(gateway.name, gateway.version));
    if (made_of != merged_of_) {
        auto merged = merged_sprites(own_.sprites(), node_, gateways);
        merged_is_truncated_ = merged.is_truncated;
        merged_.update(std::move(merged.sprites));
        merged_of_ = std::move(made_of);
    }
    return View{&merged_, own_is_truncated_ || merged_is_truncated_};
}

}  // namespace knell::rpc
