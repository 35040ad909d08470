#include "summarize/work.hpp"

#include <ranges>
#include <utility>

#include <fmt/format.h>

namespace knell {

void SummaryWork::add(SummaryJob job, SummaryDone done) {
    waiting_.push_back({std::move(job), std::move(done), 0, {}, nullptr});
}

void SummaryWork::cancel(const SessionId& session_id, std::string_view why) {
    const auto is_meant = [&](const Task& task) { return task.job.session_id == session_id; };
    for (auto& task : running_ | std::views::filter(is_meant)) give_up(task, why);
    for (auto& task : waiting_ | std::views::filter(is_meant)) give_up(task, why);
    std::erase_if(running_, is_meant);
    std::erase_if(waiting_, is_meant);
}

void SummaryWork::cancel_all(std::string_view why) {
    for (auto& task : running_) give_up(task, why);
    for (auto& task : waiting_) give_up(task, why);
    running_.clear();
    waiting_.clear();
}

void SummaryWork::add_descriptors(std::vector<pollfd>& out) const {
    for (const auto& task : running_) task.run->add_descriptors(out);
    for (const auto& run : dying_) run->add_descriptors(out);
}

std::optional<SteadyTime> SummaryWork::next_deadline() const {
    std::optional<SteadyTime> next;
    for (const auto& task : running_) {
        const auto deadline = task.run->next_deadline();
        if (!next || *deadline < *next) next = deadline;
    }
    return next;
}

void SummaryWork::step(SteadyTime now) {
    std::erase_if(dying_, [](const auto& run) { return run->reap(); });
    for (auto task = running_.begin(); task != running_.end();) {
        task = step_task(*task, now) ? running_.erase(task) : task + 1;
    }
    while (!waiting_.empty() && running_.size() < running_max_) {
        auto task = std::move(waiting_.front());
        waiting_.pop_front();
        if (!start_next(task, now)) running_.push_back(std::move(task));
    }
}

bool SummaryWork::step_task(Task& task, SteadyTime now) {
    auto outcome = task.run->step(now);
    if (!outcome) return false;
    retire(std::move(task.run));
    const auto& provider = task.job.providers[task.next - 1];
    if (*outcome) {
        finish(task, {.ok = true,
                      .summary = std::move(**outcome),
                      .provider = provider.name,
                      .failures = std::move(task.failures)});
        return true;
    }
    task.failures.push_back(fmt::format("{}: {}", provider.name, outcome->error()));
    return start_next(task, now);
}

bool SummaryWork::start_next(Task& task, SteadyTime now) {
    while (task.next < task.job.providers.size()) {
        const auto& provider = task.job.providers[task.next++];
        auto run = ProviderRun::start(provider, task.job, now);
        if (run) {
            task.run = *std::move(run);
            return false;
        }
        task.failures.push_back(fmt::format("{}: {}", provider.name, run.error().message));
        // Not its fault, and the next would get no further.
        if (run.error().code == ErrorCode::limit) {
            finish(task, {.failures = task.failures, .is_shortage = true});
            return true;
        }
    }
    if (task.failures.empty()) task.failures.emplace_back("there is no provider to ask");
    finish(task, {.ok = false, .summary = {}, .provider = {}, .failures = task.failures});
    return true;
}

std::vector<SummaryWork::Finished> SummaryWork::take_finished() {
    return std::exchange(finished_, {});
}

void SummaryWork::give_up(Task& task, std::string_view why) {
    if (task.run) {
        task.run->kill();
        retire(std::move(task.run));
    }
    task.failures.emplace_back(why);
    finish(task, {.ok = false, .summary = {}, .provider = {}, .failures = task.failures});
}

void SummaryWork::finish(Task& task, SummaryOutcome outcome) {
    finished_.push_back({task.job.session_id, std::move(task.done), std::move(outcome)});
}

void SummaryWork::retire(std::unique_ptr<ProviderRun> run) {
    if (!run->reap()) dying_.push_back(std::move(run));
}

}  // namespace knell
