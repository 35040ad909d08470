// The figures for Prometheus, judged by its own tool.

#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

class Metrics : public WithDaemon {
  protected:
    std::string metrics() const {
        const auto shown = home.knell({"status", "--metrics"});
        EXPECT_EQ(shown.status, 0) << shown.err;
        return shown.out;
    }
};

TEST_F(Metrics, TellOfTheDaemon) {
    const auto before = metrics();
    EXPECT_NE(before.find("\nknell_sessions{status=\"idle\"} 0\n"), std::string::npos) << before;
    create();

    const auto after = metrics();

    EXPECT_NE(after.find("\nknell_sessions{status=\"idle\"} 1\n"), std::string::npos) << after;
    EXPECT_EQ(after.find("knell_process_threads 0\n"), std::string::npos);
    EXPECT_EQ(after.find("knell_process_resident_memory_bytes 0\n"), std::string::npos);
    EXPECT_EQ(after.find("knell_process_open_fds 0\n"), std::string::npos);
}

TEST_F(Metrics, CountWhoIsAttached) {
    create(R"({"id":"s","source":"web","owner":{"kind":"hosted"}})");
    Client viewer(home.socket());
    viewer.must("session.attach", R"({"session_id":"s"})");
    const auto shown = metrics();
    EXPECT_NE(shown.find("\nknell_attachments 1\n"), std::string::npos) << shown;
}

TEST_F(Metrics, ArePrometheus) {
    if (run_command({.argv = {"sh", "-c", "command -v promtool"}}).status != 0) {
        GTEST_SKIP() << "needs promtool, of Debian's package prometheus";
    }
    create();

    const auto verdict = run_command({.argv = {"promtool", "check", "metrics"}}, metrics());

    EXPECT_EQ(verdict.status, 0) << verdict.out << verdict.err;
    EXPECT_EQ(verdict.out + verdict.err, "");
}

}  // namespace
}  // namespace knell::functional
