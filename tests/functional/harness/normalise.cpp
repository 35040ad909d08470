#include "functional/harness/normalise.hpp"

#include <fmt/format.h>

namespace knell::functional {

namespace {

const std::regex uuid("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

void replace_all(std::string& text, const std::string& what, std::string_view with) {
    for (auto place = text.find(what); place != std::string::npos;
         place = text.find(what, place + with.size())) {
        text.replace(place, what.size(), with);
    }
}

/// Help is laid out for people and stays as it is.  The widths of a table follow from what was
/// taken out of it, so columns are put two spaces apart.
void close_gaps(std::string& line) {
    const auto indent = line.find_first_not_of(' ');
    if (indent == std::string::npos || (indent > 0 && !line.contains("<time>"))) return;
    static const std::regex gap("  +");
    line = line.substr(0, indent) + std::regex_replace(line.substr(indent), gap, "  ");
}

}  // namespace

Normaliser::Normaliser(std::string home)
    : home_(std::move(home)), rules_([] {
          std::vector<Rule> rules;
          const auto add = [&](const char* pattern, const char* replacement) {
              rules.push_back({std::regex(pattern), replacement});
          };
          add(R"re(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)re", "<time>");
          add(R"re(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{3})? [A-Z]+\b)re", "<time>");
          add(R"re(\bjust now\b|\b\d+[smh] ago\b)re", "<age>");
          // In columns of their own, after a word that stands for a status or an end.
          add(R"re(  \d+[smh] +\d+[smh](?=  ))re", "  <age>  <age>");
          add(R"re((<age> +\S+ +)\d{2,}(?=  ))re", "$1<pid>");
          add(R"re(^[0-9a-f]{8}(-[0-9a-f-]+)?(?=  ))re", "<short id>");
          add(R"re(\b\d+ (s|min) after it started)re", "<n> s after it started");
          add(R"re(^(disk +)\S+ \S+ free of \S+ \S+$)re", "$1<n> free of <n>");
          add(R"re(^(log +\S+ )\([^)]*\))re", "$1(<n>)");
          add(R"re(\b(?:now|in \d+[smh])(?=  ))re", "<soon>");
          add(R"re(\b(in|after) \d+ ms\b)re", "$1 <n> ms");
          add(R"re(("(?:pid|bytes|max|uptime_s|took_ms)": ?)\d+)re", "$1<n>");
          add(R"re(("(?:node_id|boot_id|host|version|commit|sqlite_version)": ?")[^"]*)re",
              "$1<x>");
          add(R"re(\b(pid|process) +\d+)re", "$1 <pid>");
          add(R"re( {2,}\d{2,}$)re", "  <pid>");
          add(R"re(\(uid \d+\))re", "(uid <uid>)");
          add(R"re(\bon \S+ since\b)re", "on <host> since");
          add(R"re(^(host|node) +\S+$)re", "$1  <x>");
          add(R"re(^(version +|knell )\d+\.\d+\.\d+ \(\w+\)$)re", "$1<version> (<commit>)");
          add(R"re(\bknell \d+\.\d+\.\d+ (started|stopped)\b)re", "knell <version> $1");
          add(R"re(^(up +)\d+s,)re", "$1<n>,");
          add(R"re(sqlite \d\S* (\S+) \([^,]*,)re", "sqlite <version> $1 (<n>,");
          // The daemon may not have noticed yet that the command before has hung up.
          add(R"re(^(connections +)\d+ of \d+$)re", "$1<n> of <n>");
          add(R"re(("connections":\{"open":)\d+)re", "$1<n>");
          add(R"re([0-9a-f]{16}(_\d+"))re", "<node>$1");
          return rules;
      }()) {}

std::string Normaliser::operator()(std::string line) {
    replace_all(line, home_, "<home>");
    line = number_ids(line);
    for (const auto& rule : rules_) line = std::regex_replace(line, rule.pattern, rule.replacement);
    close_gaps(line);
    while (line.ends_with(' ')) line.pop_back();
    return line;
}

std::string Normaliser::number_ids(const std::string& line) {
    std::string out;
    auto rest = line.begin();
    for (std::sregex_iterator found(line.begin(), line.end(), uuid), none; found != none; ++found) {
        const auto number = ids_.try_emplace(found->str(), ids_.size() + 1).first->second;
        out.append(rest, line.begin() + found->position());
        out += fmt::format("<id{}>", number);
        rest = line.begin() + found->position() + found->length();
    }
    return out.append(rest, line.end());
}

}  // namespace knell::functional
