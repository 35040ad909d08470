#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace knell {

/// A program that sums up a conversation: an entry of `summarizer.providers`.
struct SummarizerProvider {
    std::string name;
    std::vector<std::string> command;  // the program and its arguments; no shell
    std::chrono::seconds timeout{240};

    bool operator==(const SummarizerProvider&) const = default;
};

/// The `summarizer` of the config.
struct SummarizerSettings {
    /// What becomes of a conversation that no provider could sum up.
    enum class Fallback : std::uint8_t {
        keep,  // it stays as it is
        tail,  // its last messages go on
    };

    std::vector<SummarizerProvider> providers;  // tried in this order
    std::int64_t at_tokens = 0;                 // 0: never by itself
    Fallback fallback = Fallback::keep;
    std::size_t tail_messages = 20;
    std::chrono::seconds cool_down{600};

    bool operator==(const SummarizerSettings&) const = default;
};

inline constexpr std::array<std::string_view, 2> summarizer_fallback_names{"keep", "tail"};

}  // namespace knell
