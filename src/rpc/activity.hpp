#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rpc/activity_book.hpp"
#include "store/change_notes.hpp"
#include "store/store.hpp"
#include "wire/gateway_report.hpp"

namespace knell::rpc {

/// The picture that space.activity gives, kept from one call to the next: many may ask often, and
/// mostly little has happened.  Only sessions that were written since are read again.  One thread,
/// the reader's.
class Activity {
  public:
    /// `life` names this life of the daemon, `node` the node.
    /// `notes` are of the store that is read, for nobody else, and outlive this.
    Activity(std::string life, std::string node, ChangeNotes& notes)
        : life_(std::move(life)), node_(std::move(node)), notes_(notes) {}

    /// What is different since `place`, an earlier `next`; of one of another life, or "": all.
    struct View {
        ActivityBook::Changes own;     // until the next look
        ActivityBook::Changes others;  // of other gateways; nothing where they were not asked for
        bool is_whole = true;
        bool is_truncated = false;  // there was more than an answer can hold; the oldest are left
                                    // out
        std::uint64_t hash = 0;     // of all of it
        std::string next;           // the place of this picture
    };
    /// What this node shows: sessions that are open, or whose end was told within
    /// limits::space_window.
    Result<View> own(Reader& reader, WallTime now, std::string_view place);
    /// The same and what the gateways told.
    Result<View> all(Reader& reader, WallTime now, const std::vector<GatewayReport>& gateways,
                     std::string_view place);

  private:
    using Revision = ActivityBook::Revision;

    Result<void> look(Reader& reader, WallTime now);
    Result<ChangedSessions> take_changed(Reader& reader);
    Result<void> look_anew(Reader& reader, WallTime now);
    Result<void> look_at(const ChangedSessions& changed, Reader& reader, WallTime now);
    void drop_old(WallTime now);
    void keep_to_size();
    void look_at(const std::vector<GatewayReport>& gateways);
    std::string place_of(bool with_others) const;
    std::optional<std::pair<Revision, Revision>> read_place(std::string_view place,
                                                            bool with_others) const;

    const std::string life_;
    const std::string node_;
    ChangeNotes& notes_;
    ActivityBook own_;
    ActivityBook others_;
    bool is_known_ = false;          // `own_` is what a look at everything would give
    bool own_is_truncated_ = false;  // what came later may have made room for some that it lacks
    std::size_t ended_ = 0;          // of `own_`
    WallTime looked_at_;
    std::int64_t data_version_ = 0;  // when it was looked at
    bool others_are_truncated_ = false;
    std::size_t others_room_ = 0;            // bytes that there were for `others_`
    std::vector<std::uint64_t> others_are_;  // versions of the gateways in `others_`
};

}  // namespace knell::rpc
