#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/ids.hpp"

namespace knell {

/// How a compression went.
enum class CompressOutcome : std::uint8_t {
    compressed,  // a child goes on from a summary
    tail,        // no summary could be made: a child goes on from the last messages alone
    failed       // nothing was changed
};
inline constexpr std::array<std::string_view, 3> compress_outcome_names{"compressed", "tail",
                                                                        "failed"};

/// What session:compress tells beside why.
struct Compression {
    CompressOutcome outcome = CompressOutcome::failed;
    SessionId child;       // empty: there is none
    std::string provider;  // who made the summary

    bool operator==(const Compression&) const = default;
};

/// For a column of the store.
std::string to_text(const Compression& compression);
Compression compression_from_text(std::string_view text);

}  // namespace knell
