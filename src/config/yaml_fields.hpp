#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/file_problem.hpp"
#include "config/yaml.hpp"

namespace knell {

/// Reads one map of a document by the names of its keys.  What is wrong goes to the problems with
/// its place, and reading goes on as if the key were missing, so that everything is found at once.
/// A key without a value is missing too.
///
/// The node and the problems must outlive it.
class YamlFields {
  public:
    /// A node that is not a map is a problem, and has no keys.  `at` is what the paths of its keys
    /// begin with: "" or "webhooks[2].".
    YamlFields(const YamlNode& node, FileProblems& problems, std::string at = {});

    /// On one line, without control characters; what YAML takes for a number needs quotes.
    std::optional<std::string> text(std::string_view name);
    /// May be long and of several lines: a description.
    std::optional<std::string> prose(std::string_view name);
    std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
    /// A whole number of `unit`, or with one of s, m, h, d behind it; of days alone with a d.
    std::optional<std::chrono::seconds> duration(std::string_view name, std::chrono::seconds min,
                                                 std::chrono::seconds max,
                                                 std::chrono::seconds unit);
    /// A whole number of hours, or HH:MM with or without quotes; given as HH:MM.
    std::optional<std::string> time_of_day(std::string_view name);
    std::optional<bool> boolean(std::string_view name);
    /// A list of texts, or one text for a list of one.
    std::optional<std::vector<std::string>> texts(std::string_view name, std::size_t count_max);
    /// The key's value as it stands, for what is read in a way of its own.  nullptr: missing.
    const YamlNode* node(std::string_view name);
    /// The items of a list; nullptr: missing, or a problem.
    const std::vector<YamlNode>* list(std::string_view name);

    /// A key that people are likely to write, with the reason why there is none.
    void refuse_key(std::string_view name, std::string_view message);
    /// Where a key belongs that is not known here: a path, or "".
    using Elsewhere = std::function<std::string(std::string_view key)>;
    /// To be called last: a key that was never asked for is a problem, with the name that was
    /// probably meant.  Not for files of other programs.
    void refuse_other_keys(const Elsewhere& elsewhere = {});
    /// The same for a file of other programs, whose keys are their own: a warning of those alone
    /// that nearly are one of ours which is not written.
    void warn_of_near_misses();

    /// Where a key stands; the map itself when the key is missing.
    TextPlace place(std::string_view name) const;
    /// "What is wrong; what would be right", at the place of the key.
    void reject(std::string_view name, std::string_view text);

  private:
    const YamlNode* find(std::string_view name) const;
    std::optional<std::string> text_of(const YamlNode& node, std::string_view name);

    std::string path_of(std::string_view name) const;

    const YamlNode& map_;
    FileProblems& problems_;
    const std::string at_;
    std::vector<std::string> asked_for_;
    std::vector<std::string> refused_;
};

}  // namespace knell
