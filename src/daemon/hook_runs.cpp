#include "daemon/hook_runs.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "daemon/daemon.hpp"
#include "platform/new_file.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

constexpr auto save_every = 1s;
/// Of what one run wrote.
constexpr std::size_t output_bytes_max = 4096;
/// Ten runs with all that a line may hold, and room for their indents.
constexpr std::size_t file_bytes_max = HookRuns::runs_max * 4 * output_bytes_max;

std::string file_of(const std::string& folder, const std::string& name) {
    return fmt::format("{}/{}.txt", folder, name);
}

}  // namespace

std::string run_text(const HookRun& run) {
    const auto& outcome = run.outcome;
    const bool delivered = outcome.kind == Outcome::Kind::delivered;
    auto text = fmt::format("{} event {} ({}{}{}) {} in {} ms{}{}\n", format_rfc3339(run.at),
                            run.seq, run.type, run.session_id.empty() ? "" : " ", run.session_id,
                            delivered ? "delivered" : "failed", run.took.count(),
                            outcome.what.empty() ? "" : ": ", outcome.what);
    for (auto rest = cut_text(outcome.output, output_bytes_max); !rest.empty();) {
        text += fmt::format("  {}\n", take_field(rest, '\n'));
    }
    return text;
}

std::string runs_folder(const Paths& paths) {
    return paths.state_dir + "/runs";
}

std::string hook_runs_file(const Paths& paths, const std::string& name) {
    return file_of(runs_folder(paths), name);
}

std::deque<std::string> runs_in(std::string_view file) {
    std::deque<std::string> runs;
    while (!file.empty()) {
        const auto line = take_field(file, '\n');
        if (runs.empty() || !line.starts_with(' ')) runs.emplace_back();
        runs.back() += std::string(line) + "\n";
    }
    if (runs.size() > HookRuns::runs_max) runs.resize(HookRuns::runs_max);
    return runs;
}

void HookRuns::add(const std::string& name, std::string text, SteadyTime now) {
    const auto [place, is_new] = by_name_.try_emplace(name);
    auto& runs = place->second;
    if (is_new) {
        const auto before = read_regular_file(file_of(folder_, name), file_bytes_max);
        if (before) runs.texts = runs_in(*before);
    }
    runs.texts.push_front(std::move(text));
    if (runs.texts.size() > runs_max) runs.texts.pop_back();
    if (!runs.save_at) runs.save_at = now + (is_new ? 0s : save_every);
}

void HookRuns::save(SteadyTime now) {
    for (auto& [name, runs] : by_name_) {
        if (runs.save_at && *runs.save_at <= now) write(name, runs);
    }
}

void HookRuns::save_all() {
    for (auto& [name, runs] : by_name_) {
        if (runs.save_at) write(name, runs);
    }
}

std::optional<SteadyTime> HookRuns::next_save() const {
    std::optional<SteadyTime> next;
    for (const auto& [name, runs] : by_name_) {
        if (runs.save_at && (!next || *runs.save_at < *next)) next = runs.save_at;
    }
    return next;
}

void HookRuns::write(const std::string& name, Runs& runs) const {
    runs.save_at.reset();
    std::string text;
    for (const auto& run : runs.texts) text += run;
    const auto path = file_of(folder_, name);
    const auto next = path + ".new";
    ::unlink(next.c_str());  // of one that was interrupted
    if (!write_new_file(next, text)) return;
    if (std::rename(next.c_str(), path.c_str()) != 0) ::unlink(next.c_str());
}

}  // namespace knell
