#include "foreign/hermes/api_key.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "foreign/hermes/config_scalar.hpp"

namespace knell::hermes {

namespace {

constexpr std::size_t key_bytes_min = 16;
constexpr std::size_t characters_min = 6;  // that differ
constexpr std::string_view name = "API_SERVER_KEY";
constexpr std::string_view switch_name = "API_SERVER_ENABLED";

/// What stands in examples.
constexpr std::array<std::string_view, 6> placeholders{"changeme",   "replaceme",  "placeholder",
                                                       "yourapikey", "yoursecret", "examplekey"};

std::string letters_of(std::string_view text) {
    std::string letters;
    for (const char c : text) {
        if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
    }
    return letters;
}

/// Where something is said, in the config or in the .env.
struct Said {
    std::string file;  // "": the config
    TextPlace place;
    std::string path;
    std::string value;
};

class Look {
  public:
    Look(const HermesMap& root, const std::optional<HermesEnvironment>& environment,
         FileProblems& problems)
        : root_(root), environment_(environment), problems_(problems) {}

    void run() {
        const auto on = switched_on();
        const auto key = find_key();
        if (key) {
            // Set without the server it does no harm yet.
            if (const auto why = why_weak(key->value)) {
                add(*key, *why, on ? ProblemLevel::error : ProblemLevel::warning);
            }
        } else if (on && !is_given_elsewhere()) {
            add(*on,
                fmt::format("the API server is on and has no {}; put one into {}, as made by: "
                            "openssl rand -hex 32",
                            name, environment_->file),
                ProblemLevel::error);
        }
    }

  private:
    /// Nobody can tell; or the variable is set for us, and so perhaps for Hermes.
    bool is_given_elsewhere() const {
        return refers_elsewhere_ || !environment_ || !environment_->api_server_key.empty();
    }

    std::optional<Said> switched_on() const {
        for (const auto* section : {"platforms.", "gateway.platforms."}) {
            const auto* server = platform(section);
            if (server == nullptr) continue;
            const auto path = fmt::format("{}api_server.", section);
            const auto* enabled = HermesMap(*server, path, problems_).find("enabled");
            if (enabled == nullptr || !says_yes(enabled->text)) continue;
            return Said{.file = {}, .place = enabled->place, .path = path + "enabled", .value = {}};
        }
        if (!environment_) return std::nullopt;
        const auto* line = find_env(environment_->lines, switch_name);
        if (line == nullptr || !says_yes(line->value)) return std::nullopt;
        return in_environment(*line);
    }

    std::optional<Said> find_key() {
        for (const auto* section : {"platforms.", "gateway.platforms."}) {
            const auto* server = platform(section);
            if (server == nullptr) continue;
            const HermesMap map(*server, fmt::format("{}api_server.", section), problems_);
            const auto* extra = map.find("extra");
            if (extra == nullptr) continue;
            const HermesMap inner(*extra, map.path_of("extra."), problems_);
            const auto* key = inner.find("key");
            if (key == nullptr || key->kind != YamlNode::Kind::text || key->text.empty()) continue;
            // What a reference stands for is in the .env, or nowhere that we know of.
            refers_elsewhere_ = key->text.contains("${");
            if (refers_elsewhere_) break;
            return Said{
                .file = {}, .place = key->place, .path = inner.path_of("key"), .value = key->text};
        }
        if (!environment_) return std::nullopt;
        const auto* line = find_env(environment_->lines, name);
        return line == nullptr ? std::nullopt : std::optional(in_environment(*line));
    }

    const YamlNode* platform(std::string_view section) const {
        const YamlNode* node = &root_.node();
        for (const std::string_view part : {"gateway", "platforms", "api_server"}) {
            if (part == "gateway" && !section.starts_with(part)) continue;
            if (node == nullptr || node->kind != YamlNode::Kind::map) return nullptr;
            node = HermesMap(*node, "", problems_).find(part);
        }
        return node;
    }

    Said in_environment(const EnvLine& line) const {
        return {.file = environment_->file,
                .place = {.line = line.line, .column = 1},
                .path = line.name,
                .value = line.value};
    }

    void add(const Said& at, std::string_view text, ProblemLevel level) {
        problems_.add(make_problem(at.file.empty() ? problems_.file() : at.file, at.place, at.path,
                                   text, level));
    }

    const HermesMap& root_;
    const std::optional<HermesEnvironment>& environment_;
    FileProblems& problems_;
    bool refers_elsewhere_ = false;
};

}  // namespace

std::optional<std::string_view> why_weak(std::string_view key) {
    const auto letters = letters_of(key);
    const bool is_example = std::ranges::any_of(
        placeholders, [&](std::string_view word) { return letters.contains(word); });
    if (is_example) {
        return "is a weak API_SERVER_KEY, one of an example; make one with: openssl rand -hex 32";
    }
    if (key.size() < key_bytes_min) {
        return "is a weak API_SERVER_KEY, shorter than 16 characters; make one with: openssl rand "
               "-hex 32";
    }
    if (std::set(key.begin(), key.end()).size() < characters_min) {
        return "is a weak API_SERVER_KEY of a few characters over and over; make one with: openssl "
               "rand -hex 32";
    }
    return std::nullopt;
}

void check_hermes_api_key(const HermesMap& root,
                          const std::optional<HermesEnvironment>& environment,
                          FileProblems& problems) {
    Look(root, environment, problems).run();
}

}  // namespace knell::hermes
