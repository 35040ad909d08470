// A receiver whose certificate nobody vouches for must not hear anything.

#include <cstdlib>
#include <optional>
#include <stdexcept>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "functional/harness/process.hpp"
#include "functional/harness/temp_home.hpp"
#include "functional/harness/waiting.hpp"
#include "testing/polled_sender.hpp"

namespace knell::functional {
namespace {

using namespace std::chrono_literals;

/// `openssl s_server` with a certificate that it made itself.
class SelfSignedServer {
  public:
    SelfSignedServer() {
        const auto key = home_.file("key.pem");
        const auto certificate = home_.file("certificate.pem");
        const auto made = run_command(
            {.argv = {"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
                      "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                      key, "-out", certificate}});
        if (made.status != 0) throw std::runtime_error("openssl req failed:\n" + made.err);

        ::fcntl(out_.reading.get(), F_SETFL, O_NONBLOCK);
        server_.emplace(Spawn{.argv = {"openssl", "s_server", "-accept", "127.0.0.1:0", "-key", key,
                                       "-cert", certificate},
                              .in = in_.reading.get(),
                              .out = out_.writing.get()});
    }

    /// The port that it says it listens at.
    std::string port() {
        constexpr std::string_view before = "ACCEPT 127.0.0.1:";
        for (;;) {
            const auto found = said_.find(before);
            const auto end = said_.find('\n', found == std::string::npos ? 0 : found);
            if (found != std::string::npos && end != std::string::npos) {
                return said_.substr(found + before.size(), end - found - before.size());
            }
            hear_more();
        }
    }
    /// All that it has said when it is gone, requests included.
    std::string stop_and_hear() {
        server_->signal(SIGTERM);
        server_->wait();
        out_.writing.reset();
        while (read_available(out_.reading.get(), said_)) {
        }
        return said_;
    }

  private:
    void hear_more() {
        wait_for(out_.reading.get(), POLLIN, "a word of openssl s_server");
        read_available(out_.reading.get(), said_);
    }

    TempHome home_;
    Pipe in_;
    Pipe out_;
    std::string said_;
    std::optional<Process> server_;
};

TEST(WebhookTls, ACertificateThatNobodyVouchesForIsRefused) {
    if (run_command({.argv = {"openssl", "version"}}).status != 0) {
        GTEST_SKIP() << "needs openssl, which is not in PATH";
    }
    SelfSignedServer server;
    setenv("KNELL_TEST_SECRET", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", 1);
    knell::testing::PolledSender sender("node7");

    sender.start(1,
                 {.name = "ops",
                  .url = "https://127.0.0.1:" + server.port() + "/",
                  .secrets = {{.variable = "KNELL_TEST_SECRET"}},
                  .timeout = 30s},
                 {.seq = 1, .id = "s1_1_end", .type = "session:end", .json = "{}"}, WallTime{});
    std::vector<Finished> finished;
    while (finished.empty()) {
        sender.wait(30s);
        finished = sender.take_finished();
    }

    EXPECT_EQ(finished.front().outcome.kind, knell::Outcome::Kind::failed);
    EXPECT_THAT(finished.front().outcome.what, ::testing::StartsWith("certificate not trusted: "));
    EXPECT_THAT(server.stop_and_hear(), ::testing::Not(::testing::HasSubstr("s1_1_end")));
}

}  // namespace
}  // namespace knell::functional
