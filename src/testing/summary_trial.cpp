#include "testing/summary_trial.hpp"

#include <fstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include "summarize/input.hpp"

namespace knell::testing {

namespace {

/// A safety net only: nothing that works takes this long.
constexpr int patience_millis = 20'000;

}  // namespace

SummaryTrial::~SummaryTrial() {
    work_.cancel_all("the test is over");
    finish();
}

std::string SummaryTrial::path(std::string_view name) const {
    return fmt::format("{}/{}", temp_.path(), name);
}

std::string SummaryTrial::write(std::string_view name, std::string_view text) const {
    std::ofstream(path(name)) << text;
    ::chmod(path(name).c_str(), 0700);
    return path(name);
}

Fd SummaryTrial::reader_of_fifo(std::string_view name) const {
    EXPECT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    return Fd{::open(path(name).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
}

Provider SummaryTrial::provider(std::vector<std::string> command, std::string_view name) {
    return {.name = std::string(name), .command = std::move(command), .timeout = timeout};
}

Provider SummaryTrial::shell(std::string_view script, std::string_view name) {
    return provider({"/bin/sh", "-c", std::string(script)}, name);
}

SummaryJob SummaryTrial::job(std::vector<Provider> providers, std::string session_id) const {
    auto input = SummaryInput::create(temp_.path()).value();
    EXPECT_TRUE(input.add_line(R"({"role":"user","content":"why?"})", 400));
    EXPECT_TRUE(input.add_line(R"({"role":"tool","content":"so"})", 600));
    auto written = input.finish().value();
    return {.session_id = SessionId(std::move(session_id)),
            .generation = 1,
            .providers = std::move(providers),
            .input = std::move(written.file),
            .input_bytes = written.input_bytes,
            .content_bytes = written.content_bytes};
}

void SummaryTrial::start(SummaryJob job, SteadyTime now) {
    work_.add(std::move(job),
              [this](SummaryOutcome outcome) { outcomes_.push_back(std::move(outcome)); });
    work_.step(now);
    take();
}

void SummaryTrial::take() {
    for (auto& one : work_.take_finished()) one.done(std::move(one.outcome));
}

void SummaryTrial::wait() {
    std::vector<pollfd> descriptors;
    work_.add_descriptors(descriptors);
    EXPECT_GT(::poll(descriptors.data(), descriptors.size(), patience_millis), 0);
}

void SummaryTrial::finish(SteadyTime now) {
    take();
    while (true) {
        std::vector<pollfd> descriptors;
        work_.add_descriptors(descriptors);
        if (descriptors.empty()) return;
        if (::poll(descriptors.data(), descriptors.size(), patience_millis) <= 0) break;
        work_.step(now);
        take();
    }
    ADD_FAILURE() << work_.running() << " providers do not end";
}

SummaryOutcome SummaryTrial::run(std::vector<Provider> providers) {
    const auto before = outcomes_.size();
    start(job(std::move(providers)));
    finish();
    EXPECT_EQ(outcomes_.size(), before + 1);
    return outcomes_.size() > before ? outcomes_.back() : SummaryOutcome{};
}

SummaryOutcome SummaryTrial::run(const Provider& provider) {
    return run(std::vector{provider});
}

}  // namespace knell::testing
