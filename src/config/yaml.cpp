#include "config/yaml.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/text.hpp"
#include "core/limits.hpp"

namespace knell {

namespace {

TextPlace place_of(const YAML::Mark& mark) {
    if (mark.is_null()) return {};
    return {.line = mark.line + 1, .column = mark.column + 1};
}

/// Leaves the library's parser from within a callback; never leaves this file.
struct Refused {
    TextPlace place;
    std::string message;
};

/// Builds the tree from the parser's events.  yaml-cpp's own tree would follow aliases, however
/// many times over, before anybody could look at it.
class TreeBuilder final : public YAML::EventHandler {
  public:
    explicit TreeBuilder(Aliases aliases) : aliases_(aliases) {}

    YamlNode take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0) {
            refuse(mark, "a second document begins here; remove it, or correct the indentation");
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
        if (awaits_key()) refuse(mark, "a key is missing before the colon; write one");
        add(make(mark, YamlNode::Kind::nothing));
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (aliases_ == Aliases::refused) {
            refuse(mark, "aliases (*name) are not read; write the value out");
        }
        const auto found = anchored_.find(anchor);
        if (found == anchored_.end()) refuse(mark, "an alias stands inside itself; write it out");
        if (awaits_key()) refuse(mark, "a key must be text; write the name out");
        // Before anything is copied: aliases of aliases grow without end.
        count_copy(mark, found->second, open_.size());
        auto copy = found->second;
        auto node = make(mark, copy.kind);
        copy.place = node.place;
        copy.key = std::move(node.key);
        add(std::move(copy));
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        if (awaits_key()) {
            count(mark);
            key_ = Key{value, place_of(mark)};
            return;
        }
        auto node = make(mark, YamlNode::Kind::text);
        node.text = value;
        node.is_quoted = tag != "?";  // the tag that the library gives to a plain scalar
        remember(anchor, node);
        add(std::move(node));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        begin(mark, YamlNode::Kind::list, anchor);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        begin(mark, YamlNode::Kind::map, anchor);
    }
    void OnMapEnd() override { end(); }

  private:
    struct Key {
        std::string name;
        TextPlace place;
    };

    [[noreturn]] static void refuse(const YAML::Mark& mark, std::string message) {
        throw Refused{place_of(mark), std::move(message)};
    }

    void count(const YAML::Mark& mark) {
        if (++nodes_ <= limits::yaml_nodes_max) return;
        refuse(mark, fmt::format("more than {} keys and values; remove what is not needed",
                                 limits::yaml_nodes_max));
    }
    /// Takes the key that stands before it.
    YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) {
        count(mark);
        YamlNode node;
        node.kind = kind;
        node.place = place_of(mark);
        if (key_) {
            node.place = key_->place;
            node.key = std::move(key_->name);
            key_.reset();
        }
        return node;
    }
    bool awaits_key() const {
        return !open_.empty() && open_.back().kind == YamlNode::Kind::map && !key_;
    }
    void count_copy(const YAML::Mark& mark, const YamlNode& node, std::size_t depth) {
        if (depth > limits::yaml_depth_max) {
            refuse(mark, fmt::format("nested deeper than {}; flatten it", limits::yaml_depth_max));
        }
        count(mark);
        for (const auto& item : node.items) count_copy(mark, item, depth + 1);
    }
    void remember(YAML::anchor_t anchor, const YamlNode& node) {
        if (anchor != 0 && aliases_ == Aliases::followed) anchored_.insert_or_assign(anchor, node);
    }
    void begin(const YAML::Mark& mark, YamlNode::Kind kind, YAML::anchor_t anchor) {
        if (awaits_key()) refuse(mark, "a key must be text; write a name, and close every bracket");
        if (open_.size() == limits::yaml_depth_max) {
            refuse(mark, fmt::format("nested deeper than {}; flatten it", limits::yaml_depth_max));
        }
        open_.push_back(make(mark, kind));
        open_anchors_.push_back(anchor);
    }
    void end() {
        auto node = std::move(open_.back());
        open_.pop_back();
        remember(open_anchors_.back(), node);
        open_anchors_.pop_back();
        add(std::move(node));
    }
    void add(YamlNode&& node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        open_.back().items.push_back(std::move(node));
    }

    const Aliases aliases_;
    YamlNode root_;
    std::vector<YamlNode> open_;                // lists and maps under way, from the root inwards
    std::vector<YAML::anchor_t> open_anchors_;  // of the same; 0: none
    std::map<YAML::anchor_t, YamlNode> anchored_;
    std::optional<Key> key_;  // whose value comes next
    std::size_t nodes_ = 0;
    int documents_ = 0;
};

/// In the words of people who do not know the grammar.
std::string explained(const YAML::Exception& error) {
    if (error.msg == YAML::ErrorMsg::DOC_IN_SCALAR || error.msg == YAML::ErrorMsg::EOF_IN_SCALAR) {
        return "a quote that opens here or above is never closed; close it";
    }
    return fmt::format(
        "is not YAML: {}; look at the indentation, colons and quotes here and on the line before",
        error.msg);
}

/// A tab that is taken for indentation, up to that line: what the grammar makes of it helps nobody.
std::optional<TextPlace> find_tab(std::string_view text, int last_line) {
    for (int line = 1; line <= last_line && !text.empty(); ++line) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto first = text.substr(0, end).find_first_not_of(' ');
        if (first < end && text[first] == '\t') {
            return TextPlace{.line = line, .column = static_cast<int>(first) + 1};
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::nullopt;
}

std::optional<std::string> why_not_readable(std::string_view text) {
    if (text.size() > limits::config_bytes_max) {
        return fmt::format("is larger than {} bytes; remove what is not needed",
                           limits::config_bytes_max);
    }
    // The library would guess at UTF-16 and the like.
    if (!is_utf8(text) || text.contains('\0')) return "is not UTF-8 text; save it as UTF-8";
    return std::nullopt;
}

bool is_made_of(std::string_view text, std::string_view characters) {
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

/// As in the core schema of YAML 1.2.
bool is_yaml_number(std::string_view text) {
    constexpr std::string_view digits = "0123456789";
    if (text == ".nan" || text == ".NaN" || text == ".NAN") return true;
    if (text.starts_with("0x")) {
        return is_made_of(text.substr(2), "0123456789abcdefABCDEF");
    }
    if (text.starts_with("0o")) return is_made_of(text.substr(2), "01234567");
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (text == ".inf" || text == ".Inf" || text == ".INF") return true;
    if (const auto e = text.find_first_of("eE"); e != std::string_view::npos) {
        auto exponent = text.substr(e + 1);
        if (exponent.starts_with('-') || exponent.starts_with('+')) exponent.remove_prefix(1);
        if (!is_made_of(exponent, digits)) return false;
        text = text.substr(0, e);
    }
    const auto point = std::min(text.find('.'), text.size());
    const auto before = text.substr(0, point);
    const auto behind = text.substr(std::min(point + 1, text.size()));
    if (!before.empty() && !is_made_of(before, digits)) return false;
    if (!behind.empty() && !is_made_of(behind, digits)) return false;
    return !before.empty() || !behind.empty();
}

}  // namespace

std::expected<YamlNode, FileProblem> parse_yaml(std::string_view text, std::string_view file,
                                                Aliases aliases) {
    // What is found missing at the end is told of the last line.
    const auto last_line = std::max(
        1, static_cast<int>(std::ranges::count(text, '\n')) + (text.ends_with('\n') ? 0 : 1));
    const auto problem = [&](TextPlace place, std::string_view message) {
        if (place.line == 0) place = {.line = 1, .column = 1};
        if (place.line > last_line) place = {.line = last_line, .column = 1};
        return std::unexpected(make_problem(std::string(file), place, "", message));
    };
    if (const auto why = why_not_readable(text)) return problem({}, *why);
    try {
        // At the end of the input the library takes a quote for closed, and what it swallowed
        // would be lost without a word.  At the end of a document it does not.
        std::istringstream stream(std::string(text) + "\n...\n");
        YAML::Parser parser(stream);
        TreeBuilder builder(aliases);
        while (parser.HandleNextDocument(builder)) {
        }
        auto root = builder.take();
        // A file without anything in it: the library has it where it stopped to look.
        if (root.kind == YamlNode::Kind::nothing) root.place = {.line = 1, .column = 1};
        return root;
    } catch (const Refused& refused) {
        return problem(refused.place, refused.message);
    } catch (const YAML::Exception& error) {
        const auto place = place_of(error.mark);
        if (const auto tab = find_tab(text, place.line)) {
            return problem(*tab, "is not YAML: a tab is part of the indentation; write blanks");
        }
        return problem(place, explained(error));
    } catch (const std::exception& error) {
        return problem({}, fmt::format("cannot be read as YAML: {}", error.what()));
    }
}

std::optional<bool> yaml_boolean(std::string_view plain) {
    if (plain == "true" || plain == "True" || plain == "TRUE") return true;
    if (plain == "false" || plain == "False" || plain == "FALSE") return false;
    return std::nullopt;
}

bool is_yaml_text(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::text) return false;
    return node.is_quoted || (!yaml_boolean(node.text) && !is_yaml_number(node.text));
}

}  // namespace knell
