#include "core/background_process.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace knell {

namespace {

// Base 32 without letters that are taken for digits.
constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::string_view prefix = "p-";
constexpr std::size_t id_letters = 13;

std::uint64_t mix(std::uint64_t hash, std::string_view bytes) {
    constexpr std::uint64_t fnv_prime = 0x100000001b3;
    for (const char byte : bytes) {
        hash ^= static_cast<unsigned char>(byte);
        hash *= fnv_prime;
    }
    return hash;
}

}  // namespace

ProcessId ProcessId::from_bits(std::uint64_t bits) {
    std::string text(prefix);
    for (std::size_t i = 0; i < id_letters; ++i) {
        text += alphabet.at(bits % alphabet.size());
        bits /= alphabet.size();
    }
    return ProcessId(std::move(text));
}

std::optional<std::string> why_not_a_process_id(std::string_view text) {
    const bool is_one = text.size() == prefix.size() + id_letters && text.starts_with(prefix) &&
                        std::ranges::all_of(text.substr(prefix.size()),
                                            [](char c) { return alphabet.contains(c); });
    if (is_one) return std::nullopt;
    return "is not the id of a process: these are p- and 13 letters and digits, as `knell ps` "
           "shows";
}

ProcessId process_id_of(const ProcessIdentity& process) {
    constexpr std::uint64_t fnv_offset = 0xcbf29ce484222325;
    return ProcessId::from_bits(
        mix(fnv_offset, fmt::format("{}/{}/{}/{}", process.boot_id, process.pid_namespace,
                                    process.pid, process.start_ticks)));
}

bool counts_as_work(const BackgroundProcess& process, WallTime now) {
    if (process.exit) return false;
    if (process.vouched_until && now < *process.vouched_until) return true;
    return process.activity.activity == ProcessActivity::working;
}

std::string command_text(const std::vector<std::string>& argv, std::size_t max) {
    std::string text;
    for (const auto& word : argv) {
        if (!text.empty()) text += ' ';
        for (const char c : word) {
            const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
            text += is_control ? '?' : c;
        }
        if (text.size() > max) break;
    }
    if (text.size() <= max) return text;
    constexpr std::string_view more = "…";
    auto end = max > more.size() ? max - more.size() : 0;
    // Not within a letter.
    while (end > 0 && (static_cast<unsigned char>(text.at(end)) & 0xc0U) == 0x80) --end;
    return text.substr(0, end) + std::string(more);
}

}  // namespace knell
