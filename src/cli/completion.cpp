#include "cli/completion.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include <CLI/App.hpp>
#include <CLI/Option.hpp>

#include "base/text.hpp"

namespace knell::cli {

namespace {

/// By what an argument or the value of an option is called, and the verb where that matters.
struct Place {
    std::string_view verb;  // "": any
    std::string_view name;
    std::array<std::optional<Wanted>, 2> wanted;
};
constexpr std::array places{
    Place{"stop", "ID", {Wanted::sessions, Wanted::processes}},
    Place{"run", "--id", {}},
    Place{"adopt", "--id", {}},
    Place{"", "ID", {Wanted::sessions, {}}},
    Place{"", "KEY|ID", {Wanted::sessions, {}}},
    Place{"", "--session", {Wanted::sessions, {}}},
    Place{"", "PROCESS", {Wanted::processes, {}}},
    Place{"hooks", "NAME", {Wanted::hooks, {}}},
    Place{"config", "WHAT", {Wanted::config_keys, {}}},
    Place{"rpc", "METHOD", {Wanted::methods, {}}},
};

std::vector<Wanted> wanted_at(std::string_view verb, std::string_view name) {
    const auto place = std::ranges::find_if(places, [&](const Place& one) {
        return (one.verb.empty() || one.verb == verb) && one.name == name;
    });
    std::vector<Wanted> wanted;
    if (place == places.end()) return wanted;
    for (const auto& one : place->wanted) {
        if (one) wanted.push_back(*one);
    }
    return wanted;
}

std::string name_of(const CLI::Option& option) {
    if (option.get_positional()) return option.get_name(/*positional=*/true);
    const auto& names = option.get_lnames();
    return names.empty() ? option.get_name() : "--" + names.front();
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

Completion values_of(std::string_view verb, const CLI::Option& option) {
    Completion completion;
    for (auto& choice : choices_of(option.get_type_name())) {
        completion.candidates.push_back({std::move(choice), {}});
    }
    completion.wanted = wanted_at(verb, name_of(option));
    return completion;
}

Completion options_of(const CLI::App& verb) {
    Completion completion;
    for (const auto* option : verb.get_options()) {
        if (option->get_positional()) continue;
        for (const auto& name : option->get_lnames()) {
            completion.candidates.push_back({"--" + name, option->get_description()});
        }
    }
    return completion;
}

/// The argument that comes next, after so many; nullptr when there is no place for another.
const CLI::Option* argument_at(const CLI::App& verb, std::size_t place) {
    const CLI::Option* last = nullptr;
    std::size_t count = 0;
    for (const auto* option : verb.get_options()) {
        if (!option->get_positional()) continue;
        if (count++ == place) return option;
        last = option;
    }
    const bool takes_many = last != nullptr && last->get_items_expected_max() > 1;
    return takes_many ? last : nullptr;
}

Completion arguments_of(const CLI::App& verb, const std::vector<std::string>& words) {
    std::size_t given = 0;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        if (words[i] == "--" || (!words[i].starts_with('-') && verb.get_prefix_command())) {
            return {};  // what follows is a command, of which the shell knows more
        }
        if (!words[i].starts_with('-')) {
            ++given;
            continue;
        }
        const auto* option = verb.get_option_no_throw(words[i]);
        if (option != nullptr && takes_value(*option)) ++i;
    }
    const auto* argument = argument_at(verb, given);
    return argument == nullptr ? Completion{} : values_of(verb.get_name(), *argument);
}

Completion verbs_in(std::span<const VerbFacts> verbs) {
    Completion completion;
    for (const auto& verb : verbs) {
        completion.candidates.push_back({std::string(verb.name), std::string(verb.summary)});
    }
    return completion;
}

}  // namespace

std::vector<std::string> choices_of(std::string_view type_name) {
    const auto begin = type_name.find('{');
    const auto end = type_name.find('}', begin);
    std::vector<std::string> choices;
    if (begin == std::string_view::npos || end == std::string_view::npos) return choices;
    for (auto list = type_name.substr(begin + 1, end - begin - 1); !list.empty();) {
        choices.emplace_back(take_field(list, ','));
    }
    return choices;
}

Completion complete(const CLI::App& app, std::span<const VerbFacts> verbs,
                    const std::vector<std::string>& words) {
    const auto typed = words.empty() ? std::string() : words.back();
    if (words.size() <= 1) {
        auto completion = typed.starts_with('-') ? options_of(app) : verbs_in(verbs);
        if (!typed.starts_with('-')) {
            completion.candidates.push_back({"help", "Tell more about a verb"});
        }
        return completion;
    }
    if (words.front() == "help") return words.size() == 2 ? verbs_in(verbs) : Completion{};
    const auto known = std::ranges::find(verbs, words.front(), &VerbFacts::name);
    if (known == verbs.end()) return {};
    const auto& verb = *app.get_subcommand(words.front());
    const auto before = words.size() > 2 ? words[words.size() - 2] : std::string();
    const auto* option = before.starts_with('-') ? verb.get_option_no_throw(before) : nullptr;
    if (option != nullptr && takes_value(*option)) return values_of(known->name, *option);
    if (std::ranges::find(words.begin(), words.end() - 1, "--") != words.end() - 1) return {};
    return typed.starts_with('-') ? options_of(verb) : arguments_of(verb, words);
}

std::vector<Candidate> that_begin_with(std::string_view typed, std::vector<Candidate> candidates) {
    std::erase_if(candidates, [&](const Candidate& one) { return !one.word.starts_with(typed); });
    std::ranges::sort(candidates, {},
                      [](const Candidate& one) { return std::tie(one.word, one.about); });
    const auto twice = std::ranges::unique(candidates, {}, &Candidate::word);
    candidates.erase(twice.begin(), twice.end());
    return candidates;
}

}  // namespace knell::cli
