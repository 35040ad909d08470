#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reset/reset_policy.hpp"

namespace knell {

/// What of a session decides which policy is its own; "" is what it does not have.
struct ResetSubject {
    std::string_view source;
    std::string_view platform;
    std::string_view chat_type;
    std::string_view key;

    bool operator==(const ResetSubject&) const = default;
};

/// The sessions that an override is for: those that have all of what is named; "" is any.
struct ResetSelector {
    std::string source;
    std::string platform;
    std::string chat_type;
    std::string key;

    ResetSubject view() const { return {source, platform, chat_type, key}; }
    auto operator<=>(const ResetSelector&) const = default;
};

/// For people: "platform telegram, chat_type dm"; "" when nothing is named.
std::string to_text(const ResetSelector& selector);

struct ResetOverride {
    ResetSelector selector;
    ResetPolicy policy;
};

/// Which policy holds for which session.  Never changes; any thread.
///
/// The most specific override that matches wins: an exact key over everything, then a chat type
/// over a platform over a source.  So one that names more than another of the same fields wins too.
class ResetPolicies {
  public:
    /// None resets anything.
    ResetPolicies() = default;
    /// Each override names something, and no two the same.  `base` holds for all other sessions.
    ResetPolicies(ResetPolicy base, std::vector<ResetOverride> overrides);

    /// One lookup for each combination of fields that overrides name, however many there are; no
    /// allocation.
    const ResetPolicy& of(const ResetSubject& subject) const;

    const ResetPolicy& base() const { return base_; }
    std::size_t override_count() const { return overrides_.size(); }
    /// Whether any session can fall due at all.
    bool resets_any() const;

    bool operator==(const ResetPolicies&) const = default;

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const ResetSubject& subject) const;
        std::size_t operator()(const ResetSelector& selector) const {
            return (*this)(selector.view());
        }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const ResetSelector& a, const ResetSelector& b) const { return a == b; }
        bool operator()(const ResetSelector& a, const ResetSubject& b) const {
            return a.view() == b;
        }
        bool operator()(const ResetSubject& a, const ResetSelector& b) const {
            return a == b.view();
        }
    };

    ResetPolicy base_;
    std::unordered_map<ResetSelector, ResetPolicy, Hash, Equal> overrides_;
    /// The combinations of fields that overrides name, the most specific first.
    std::vector<std::uint8_t> combinations_;
};

}  // namespace knell
