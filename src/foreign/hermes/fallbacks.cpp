#include "foreign/hermes/fallbacks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "config/nearest_word.hpp"
#include "foreign/hermes/config_keys.hpp"
#include "foreign/hermes/config_scalar.hpp"

namespace knell::hermes {

namespace {

/// `${NAME}`: what it stands for is not known here.
bool is_reference(std::string_view text) {
    return text.contains("${");
}

std::optional<std::string_view> why_not_a_url(std::string_view url) {
    const bool is_http = url.starts_with("http://") || url.starts_with("https://");
    if (!is_http) return "must be a URL; write it as https://HOST/PATH";
    const auto rest = url.substr(url.find("//") + 2);
    const auto host = rest.substr(0, rest.find_first_of("/?#"));
    if (host.empty() || host.starts_with(':')) {
        return "names no host; write it as https://HOST/PATH";
    }
    const bool is_plain = std::ranges::all_of(
        url, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; });
    if (!is_plain) return "holds a blank or a control character; remove it";
    return std::nullopt;
}

bool is_variable_name(std::string_view text) {
    const auto is_of_name = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !text.empty() && !(text.front() >= '0' && text.front() <= '9') &&
           std::ranges::all_of(text, is_of_name);
}

/// What is tried, in order, wherever it is written.
class Chain {
  public:
    explicit Chain(FileProblems& problems) : problems_(problems) {}

    void look_at_list(const HermesMap& root, std::string_view name) {
        const auto* value = root.find(name);
        if (value == nullptr) return;
        if (value->kind == YamlNode::Kind::map) {
            root.reject(*value, name,
                        "must be a list, and is a single entry; put a dash before its first key");
        } else if (value->kind == YamlNode::Kind::text && !value->text.empty()) {
            root.reject(*value, name,
                        "must be a list of entries; write each as `- provider: NAME` and below it "
                        "`model: NAME`");
        }
        look_at_items(*value, std::string(name));
    }

    void look_at_single(const HermesMap& root, std::string_view name) {
        const auto* value = root.find(name);
        if (value == nullptr) return;
        if (value->kind == YamlNode::Kind::text) {
            if (value->text.empty()) return;
            root.reject(*value, name,
                        "must be keys with values; write `provider: NAME` and below it `model: "
                        "NAME`");
        } else if (value->kind == YamlNode::Kind::list) {
            look_at_items(*value, std::string(name));
        } else if (is_off(*value)) {
            return;
        } else {
            look_at_entry(HermesMap(*value, std::string(name) + ".", problems_), name);
        }
    }

  private:
    /// One that says neither is how it is switched off.
    bool is_off(const YamlNode& entry) const {
        const HermesMap map(entry, "", problems_);
        return std::ranges::all_of(std::array{"provider", "model"}, [&](const char* name) {
            const auto* value = map.find(name);
            return value == nullptr || (value->kind == YamlNode::Kind::text && value->text.empty());
        });
    }

    void look_at_items(const YamlNode& list, const std::string& name) {
        if (list.kind != YamlNode::Kind::list) return;
        std::size_t number = 0;
        for (const auto& item : list.items) {
            const auto path = fmt::format("{}[{}]", name, ++number);
            if (item.kind == YamlNode::Kind::map) {
                look_at_entry(HermesMap(item, path + ".", problems_), path);
            } else {
                problems_.add(item.place, path,
                              "must be keys with values; write `provider: NAME` and below it "
                              "`model: NAME`");
            }
        }
    }

    void look_at_entry(const HermesMap& entry, std::string_view path) {
        const auto provider = text_of(entry, "provider", path);
        const auto model = text_of(entry, "model", path);
        const auto url = look_at_url(entry);
        look_at_key(entry);
        warn_of_near_misses(entry);
        if (!provider || !model) return;
        const auto [first, is_new] =
            entries_.emplace(std::tuple{*provider, *model, url}, entry.place().line);
        if (is_new) return;
        problems_.warn(entry.place(), std::string(path),
                       fmt::format("is the entry of line {} again, and tried once; remove one of "
                                   "both",
                                   first->second));
    }

    std::optional<std::string> text_of(const HermesMap& entry, std::string_view name,
                                       std::string_view path) {
        const auto* value = entry.find(name);
        if (value == nullptr || (value->kind == YamlNode::Kind::text && value->text.empty())) {
            problems_.add(value == nullptr ? entry.place() : value->place, entry.path_of(name),
                          fmt::format("is missing, so that Hermes leaves {} out; write `{}: NAME`",
                                      path, name));
            return std::nullopt;
        }
        if (hermes_scalar(*value).kind == ScalarKind::text) return value->text;
        entry.reject(*value, name, "must be text; put it in quotes");
        return std::nullopt;
    }

    std::string look_at_url(const HermesMap& entry) {
        constexpr std::string_view name = "base_url";
        const auto* value = entry.find(name);
        if (value == nullptr) return {};
        if (value->kind != YamlNode::Kind::text) {
            entry.reject(*value, name, "must be a URL; write it as https://HOST/PATH");
            return {};
        }
        if (value->text.empty() || is_reference(value->text)) return value->text;
        if (const auto why = why_not_a_url(value->text)) entry.reject(*value, name, *why);
        return value->text;
    }

    /// In the file, or by the name of a variable: one of them.
    void look_at_key(const HermesMap& entry) {
        std::string_view given_by;
        for (const std::string_view name : {"api_key", "key_env", "api_key_env"}) {
            const auto* value = entry.find(name);
            if (value == nullptr || (value->kind == YamlNode::Kind::text && value->text.empty())) {
                continue;
            }
            if (value->kind != YamlNode::Kind::text) {
                entry.reject(*value, name, "must be text; put it in quotes");
            } else if (name != "api_key" && !is_reference(value->text) &&
                       !is_variable_name(value->text)) {
                entry.reject(*value, name,
                             "must name the environment variable that holds the key; write its "
                             "name, as in BACKUP_API_KEY");
            }
            if (!given_by.empty()) {
                entry.reject(
                    *value, name,
                    fmt::format("the key is given twice, by {} too; keep one of both", given_by));
            }
            given_by = name;
        }
    }

    void warn_of_near_misses(const HermesMap& entry) {
        const std::vector<std::string> known(hermes_fallback_keys.begin(),
                                             hermes_fallback_keys.end());
        for (const auto& item : entry.node().items) {
            if (std::ranges::find(known, item.key) != known.end()) continue;
            const auto meant = nearest_word(item.key, known);
            if (meant.empty() || entry.find(meant) != nullptr) continue;
            problems_.warn(item.place, entry.path_of(shown_key(item.key)),
                           fmt::format("Hermes knows no such key; did you mean \"{}\"?", meant));
        }
    }

    FileProblems& problems_;
    std::map<std::tuple<std::string, std::string, std::string>, int> entries_;  // to their lines
};

}  // namespace

void check_hermes_fallbacks(const HermesMap& root, FileProblems& problems) {
    Chain chain(problems);
    chain.look_at_list(root, "fallback_providers");
    chain.look_at_single(root, "fallback_model");
}

}  // namespace knell::hermes
