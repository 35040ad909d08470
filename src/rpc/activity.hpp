#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/activity_book.hpp"
#include "store/store.hpp"
#include "wire/gateway_report.hpp"

namespace knell::rpc {

/// The picture that space.activity gives, kept until something is committed: many may ask often,
/// and mostly nothing has happened.  One thread, the reader's.
class Activity {
  public:
    /// `life` names this life of the daemon, `node` the node.
    Activity(const std::string& life, std::string node)
        : node_(std::move(node)), own_(life + "o"), merged_(life + "a") {}

    struct View {
        const ActivityBook* book;
        bool is_truncated;  // there was more than an answer can hold; the oldest are left out
    };
    /// What this node shows: sessions that are open, or whose end was told within
    /// limits::space_window.
    Result<View> own(Reader& reader, WallTime now);
    /// The same and what the gateways told.
    Result<View> all(Reader& reader, WallTime now, const std::vector<GatewayReport>& gateways);

  private:
    Result<void> look(Reader& reader, WallTime now);
    Result<void> look_anew(Reader& reader, WallTime now);

    const std::string node_;
    ActivityBook own_;
    ActivityBook merged_;
    bool own_is_truncated_ = false;
    bool merged_is_truncated_ = false;
    // Of what `own_` was made, and until when it holds if nothing is committed.
    std::optional<std::int64_t> data_version_;
    WallTime looked_at_;
    WallTime good_until_;
    std::vector<std::uint64_t> merged_of_;  // revisions and versions
};

}  // namespace knell::rpc
