#include "cli/machine_checks.hpp"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::cli {
namespace {

using ::testing::HasSubstr;

MachineFacts sound() {
    return {.kernel = "6.15.2-amd64",
            .inotify_instances = 128,
            .descriptors_max = 524'288,
            .has_systemd = true,
            .has_linger = true,
            .state_dir = "/home/u/.local/state",
            .file_system = "ext4"};
}

MachineCheck named(const std::string& name, const MachineFacts& facts) {
    for (auto& check : judge(facts)) {
        if (check.name == name) return check;
    }
    ADD_FAILURE() << name;
    return {};
}

TEST(MachineChecks, ASoundMachineHasNothingToDo) {
    for (const auto& check : judge(sound())) {
        EXPECT_EQ(check.state, CheckState::good) << check.name;
        EXPECT_EQ(check.advice, "") << check.name;
    }
    EXPECT_TRUE(may_run(judge(sound())));
}

TEST(MachineChecks, WhatIsMissingIsSaidWithWhatIsLost) {
    auto facts = sound();
    facts.kernel = "6.1.0-18-amd64";
    facts.pidfd_error = ENOSYS;
    facts.inotify_error = EMFILE;
    facts.descriptors_max = 1024;
    facts.has_linger = false;
    facts.file_system = "tmpfs";

    EXPECT_THAT(named("kernel", facts).advice, HasSubstr("owner_lost"));
    EXPECT_THAT(named("pidfd", facts).advice, HasSubstr("every second"));
    EXPECT_THAT(named("inotify", facts).advice, HasSubstr("max_user_instances"));
    EXPECT_EQ(named("descriptors", facts).state, CheckState::warning);
    EXPECT_THAT(named("lingering", facts).advice, HasSubstr("loginctl enable-linger"));
    EXPECT_THAT(named("disk sync", facts).advice, HasSubstr("in memory"));
    EXPECT_TRUE(may_run(judge(facts)));
}

TEST(MachineChecks, WhatKeepsADaemonFromRunningIsBad) {
    auto facts = sound();
    facts.descriptors_max = 32;
    EXPECT_FALSE(may_run(judge(facts)));

    facts = sound();
    facts.sync_error = EIO;
    EXPECT_FALSE(may_run(judge(facts)));
}

TEST(MachineChecks, KernelsAreComparedByTheirNumbers) {
    for (const auto& [release, state] : {std::pair{"6.9.1", CheckState::warning},
                                         {"6.15", CheckState::good},
                                         {"7.0.0-rc1", CheckState::good},
                                         {"5.10.0-28", CheckState::warning}}) {
        auto facts = sound();
        facts.kernel = release;
        EXPECT_EQ(named("kernel", facts).state, state) << release;
    }
}

TEST(MachineChecks, RealFactsAreThere) {
    const Paths paths{.state_dir = "/nonexistent/below"};
    const auto facts = look_at_machine(paths);

    EXPECT_NE(facts.kernel, "");
    EXPECT_GT(facts.descriptors_max, 0U);
    EXPECT_EQ(facts.state_dir, "/");
}

TEST(MachineChecks, ProgramsGetNamesStatesAndAdvice) {
    auto facts = sound();
    facts.has_linger = false;

    const auto text = wire::to_text(machine_json(judge(facts)));

    EXPECT_THAT(text, HasSubstr(R"({"name":"pidfd","state":"good","found":"granted"})"));
    EXPECT_THAT(text, HasSubstr(R"("name":"lingering","state":"warning")"));
}

}  // namespace
}  // namespace knell::cli
