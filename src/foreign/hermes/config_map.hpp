#pragma once

#include <string>
#include <string_view>

#include "config/file_problem.hpp"
#include "config/yaml.hpp"

namespace knell::hermes {

/// One map of a config.yaml of Hermes.  The node and the problems must outlive it.
class HermesMap {
  public:
    HermesMap(const YamlNode& map, std::string at, FileProblems& problems)
        : map_(map), at_(std::move(at)), problems_(problems) {}

    /// Of two that Hermes knows by one name the last, which is what it takes; also one that is
    /// merged in (`<<`).  nullptr: not written, or without a value.
    const YamlNode* find(std::string_view name) const;
    /// The same where it must be a map; an error where it is something else.
    const YamlNode* find_map(std::string_view name) const;

    const YamlNode& node() const { return map_; }
    std::string path_of(std::string_view name) const { return at_ + std::string(name); }
    TextPlace place() const { return map_.place; }
    /// "What is wrong; what would be right"
    void reject(const YamlNode& value, std::string_view name, std::string_view text) const {
        problems_.add(value.place, path_of(name), text);
    }
    void warn(const YamlNode& value, std::string_view name, std::string_view text) const {
        problems_.warn(value.place, path_of(name), text);
    }

  private:
    const YamlNode& map_;
    const std::string at_;  // what the paths of its keys begin with: "" or "session_reset."
    FileProblems& problems_;
};

/// Keys in messages: on one line, and not too long.
std::string shown_key(std::string_view key);

}  // namespace knell::hermes
