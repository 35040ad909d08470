#include "reset/reset_policies.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.hpp"

namespace knell {

namespace {

// A combination of fields is the sum of these: the larger one is the more specific.
constexpr unsigned names_source = 1;
constexpr unsigned names_platform = 2;
constexpr unsigned names_chat_type = 4;
constexpr unsigned names_key = 8;

unsigned combination_of(const ResetSubject& fields) {
    return (fields.source.empty() ? 0U : names_source) |
           (fields.platform.empty() ? 0U : names_platform) |
           (fields.chat_type.empty() ? 0U : names_chat_type) |
           (fields.key.empty() ? 0U : names_key);
}

/// What an override that names just these fields would have to name.
ResetSubject reduced(const ResetSubject& subject, unsigned combination) {
    const auto taken = [&](unsigned field, std::string_view value) {
        return (combination & field) == 0 ? std::string_view{} : value;
    };
    return {.source = taken(names_source, subject.source),
            .platform = taken(names_platform, subject.platform),
            .chat_type = taken(names_chat_type, subject.chat_type),
            .key = taken(names_key, subject.key)};
}

}  // namespace

std::string to_text(const ResetSelector& selector) {
    std::vector<std::string> parts;
    const auto add = [&](std::string_view field, const std::string& value) {
        if (!value.empty()) parts.push_back(fmt::format("{} {}", field, value));
    };
    add("source", selector.source);
    add("platform", selector.platform);
    add("chat_type", selector.chat_type);
    add("key", selector.key);
    return fmt::format("{}", fmt::join(parts, ", "));
}

ResetPolicies::ResetPolicies(ResetPolicy base, std::vector<ResetOverride> overrides)
    : base_(std::move(base)) {
    for (auto& [selector, policy] : overrides) {
        const auto combination = combination_of(selector.view());
        CHECK(combination != 0);
        combinations_.push_back(static_cast<std::uint8_t>(combination));
        const bool is_new = overrides_.try_emplace(std::move(selector), std::move(policy)).second;
        CHECK(is_new);
    }
    std::ranges::sort(combinations_, std::greater{});
    const auto repeated = std::ranges::unique(combinations_);
    combinations_.erase(repeated.begin(), repeated.end());
}

const ResetPolicy& ResetPolicies::of(const ResetSubject& subject) const {
    const auto has = combination_of(subject);
    for (const auto combination : combinations_) {
        // What it lacks would be looked for as if it were not named: a less specific one.
        if ((combination & has) != combination) continue;
        const auto found = overrides_.find(reduced(subject, combination));
        if (found != overrides_.end()) return found->second;
    }
    return base_;
}

bool ResetPolicies::resets_any() const {
    return base_.mode != ResetMode::none || std::ranges::any_of(overrides_, [](const auto& entry) {
               return entry.second.mode != ResetMode::none;
           });
}

std::size_t ResetPolicies::Hash::operator()(const ResetSubject& subject) const {
    std::size_t hash = 0;
    for (const auto field : {subject.source, subject.platform, subject.chat_type, subject.key}) {
        // Not a plain sum: the same word in two fields would be lost.
        hash = hash * 31 + std::hash<std::string_view>{}(field);
    }
    return hash;
}

}  // namespace knell
