#include "summarize/provider_run.hpp"

#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "summarize/launch.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// Between asking a provider to end and killing it.
constexpr auto end_grace = 2s;

std::string text_of(std::chrono::milliseconds time) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    return seconds == time ? fmt::format("{} s", seconds.count())
                           : fmt::format("{} ms", time.count());
}

}  // namespace

Result<std::unique_ptr<ProviderRun>> ProviderRun::start(const Provider& provider,
                                                        const SummaryJob& job, SteadyTime now) {
    auto output = open_output_pipe();
    if (!output) return std::unexpected(std::move(output.error()));
    auto errors = open_output_pipe();
    if (!errors) return std::unexpected(std::move(errors.error()));
    auto started = launch_provider(provider, job, {output->writer.get(), errors->writer.get()});
    if (!started) return std::unexpected(std::move(started.error()));
    return std::unique_ptr<ProviderRun>(
        new ProviderRun(*std::move(started), {std::move(output->reader), std::move(errors->reader)},
                        provider.timeout, job.content_bytes, now));
}

ProviderRun::ProviderRun(Spawned started, Readers readers, std::chrono::milliseconds timeout,
                         std::int64_t content_bytes, SteadyTime now)
    : timeout_(timeout),
      content_bytes_(content_bytes),
      group_(std::move(started)),
      readers_(std::move(readers)),
      next_deadline_(now + timeout) {}

void ProviderRun::add_descriptors(std::vector<pollfd>& out) const {
    for (const auto fd : {group_.pidfd(), readers_.output.get(), readers_.errors.get()}) {
        if (fd >= 0) out.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    }
}

std::optional<ProviderRun::Outcome> ProviderRun::step(SteadyTime now) {
    // Looked at before the output is read: what it printed before it ended is all there by then.
    const auto exit = group_.look();
    read_some();
    std::optional<Outcome> outcome;
    // In this order: one that made it just in time made it, however late we come to look.
    if (exit) {
        outcome = judge_exit(*exit);
    } else if (output_.size() > limits::summary_bytes_max) {
        outcome = judge_output(output_, content_bytes_);
    } else {
        outcome = enforce_deadline(now);
    }
    if (outcome) kill();
    return outcome;
}

void ProviderRun::read_some() {
    // One byte more than a summary may have says that it has too many.
    read_output(readers_.output, limits::summary_bytes_max + 1 - output_.size(),
                [this](std::string_view bytes) { output_ += bytes; });
    read_output(readers_.errors, limits::hook_output_bytes_per_step_max,
                [this](std::string_view bytes) { errors_.append(bytes); });
}

ProviderRun::Outcome ProviderRun::judge_exit(const ChildExit& exit) const {
    if (asked_to_end_) return overdue();
    if (exit.is_success()) return judge_output(output_, content_bytes_);
    const auto said = errors_.last_lines();
    return std::unexpected(fmt::format("{}{}{}", to_text(exit), said.empty() ? "" : ": ", said));
}

ProviderRun::Outcome ProviderRun::overdue() const {
    return std::unexpected(fmt::format("timed out after {}", text_of(timeout_)));
}

std::optional<ProviderRun::Outcome> ProviderRun::enforce_deadline(SteadyTime now) {
    if (now < *next_deadline_) return std::nullopt;
    if (asked_to_end_) return overdue();
    asked_to_end_ = true;
    next_deadline_ = now + end_grace;
    group_.signal(SIGTERM);
    return std::nullopt;
}

void ProviderRun::kill() {
    group_.signal(SIGKILL);
    readers_ = {};
    next_deadline_.reset();
}

}  // namespace knell
