#include "testing/hook_trial.hpp"

#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace knell::testing {

namespace {

/// A safety net only: nothing that works takes this long.
constexpr int patience_millis = 20'000;

}  // namespace

HookTrial::HookTrial() = default;

HookTrial::~HookTrial() {
    runner_.cancel_all();
    finish();
}

std::string HookTrial::path(std::string_view name) const {
    return directory_ + "/" + std::string{name};
}

std::string HookTrial::write(std::string_view name, std::string_view text) const {
    std::ofstream(path(name)) << text;
    ::chmod(path(name).c_str(), 0700);
    return path(name);
}

Fd HookTrial::fifo(std::string_view name) const {
    EXPECT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    return Fd{::open(path(name).c_str(), O_RDWR | O_CLOEXEC)};
}

HookSpec HookTrial::spec(std::vector<std::string> argv) const {
    HookSpec spec;
    spec.name = "trial";
    spec.directory = directory_;
    spec.argv = std::move(argv);
    return spec;
}

HookSpec HookTrial::shell(std::string_view script) const {
    return spec({"/bin/sh", "-c", std::string{script}});
}

HookSpec HookTrial::python_handler(std::string_view code) const {
    auto handler = spec({write("handler.py", code)});
    handler.is_python_handler = true;
    return handler;
}

AttemptId HookTrial::start(const HookSpec& hook) {
    return start(hook, rendered());
}

AttemptId HookTrial::start(const HookSpec& hook, const RenderedEvent& rendered, SteadyTime now) {
    runner_.start(++last_attempt_, hook, std::make_shared<const RenderedEvent>(rendered), now);
    return last_attempt_;
}

void HookTrial::wait() {
    std::vector<pollfd> descriptors;
    runner_.add_descriptors(descriptors);
    EXPECT_GT(::poll(descriptors.data(), descriptors.size(), patience_millis), 0);
}

std::vector<Finished> HookTrial::finish(SteadyTime now) {
    while (true) {
        std::vector<pollfd> descriptors;
        runner_.add_descriptors(descriptors);
        if (descriptors.empty()) return runner_.take_finished();
        if (::poll(descriptors.data(), descriptors.size(), patience_millis) <= 0) break;
        runner_.step(now);
    }
    ADD_FAILURE() << runner_.running() << " hooks do not end";
    runner_.cancel_all();
    return {};
}

Outcome HookTrial::run(const HookSpec& hook) {
    return run(hook, rendered());
}

Outcome HookTrial::run(const HookSpec& hook, const RenderedEvent& rendered) {
    start(hook, rendered);
    auto finished = finish();
    EXPECT_EQ(finished.size(), 1U);
    return finished.empty() ? Outcome{} : std::move(finished.front().outcome);
}

RenderedEvent HookTrial::rendered() {
    return {.seq = 7,
            .id = "node-7",
            .type = "session:end",
            .time = "2026-11-15T03:52:25.001Z",
            .session_id = "s1",
            .json = R"({"seq":7,"id":"node-7","type":"session:end","session_id":"s1",)"
                    R"("session_key":"agent:main","platform":"telegram","reason":"completed",)"
                    R"("message_count":12})"};
}

}  // namespace knell::testing
