// One connection on a socket pair: the server's side is served, the client's is ours.

#include "net/connection.hpp"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "testing/in_process_backend.hpp"

namespace knell::net {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

class ConnectionTrial : public ::testing::Test {
  protected:
    /// Serves the other end of `client_`.
    void connect(std::chrono::milliseconds unsent_for_max = 24h) {
        Connection::Socket served(io_);
        asio::local::connect_pair(client_, served);
        client_.non_blocking(true);
        auto caller = backend_.caller();
        caller.connection = rpc::ConnectionId{7};
        connection_ = std::make_shared<Connection>(std::move(served), caller, backend_.dispatcher(),
                                                   budgets_, unsent_for_max);
        asio::co_spawn(io_, connection_->serve(), [this](const std::exception_ptr& error) {
            EXPECT_EQ(error, nullptr);
            served_to_its_end_ = true;
        });
        io_.poll();
    }
    /// Writes it whole, serving the while, unless nobody reads any more.
    void say(std::string_view bytes) {
        while (!bytes.empty()) {
            error_code error;
            const auto sent = client_.write_some(asio::buffer(bytes), error);
            bytes.remove_prefix(sent);
            io_.restart();
            const auto done = io_.poll();
            if (error && (error != asio::error::would_block || done == 0)) return;
        }
        io_.restart();
        io_.poll();
    }
    void call(std::string_view id) { say(call_line(id)); }
    static std::string call_line(std::string_view id) {
        return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"hooks.list"}})", id) + "\n";
    }
    /// One that the backend may hold.
    static std::string read_line(int id) {
        return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"config.check"}})", id) + "\n";
    }
    /// All that comes while there is something to do.
    std::string hear() {
        std::string heard;
        std::string piece(1U << 16U, '\0');
        for (;;) {
            io_.restart();
            const auto done = io_.poll();
            error_code error;
            const auto got = client_.read_some(asio::buffer(piece), error);
            heard.append(piece, 0, got);
            if (got == 0 && (done == 0 || error == asio::error::eof)) return heard;
        }
    }
    static std::size_t lines(const std::string& text) {
        return static_cast<std::size_t>(std::ranges::count(text, '\n'));
    }
    void answer_with(std::size_t bytes) { backend_.report_trouble(bytes); }
    bool has_hung_up() {
        char byte = 0;
        return ::recv(client_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    }

    knell::testing::InProcessBackend backend_;
    const std::shared_ptr<Connection::Budgets> budgets_ = std::make_shared<Connection::Budgets>(
        Connection::Budgets{.asked = {limits::asked_bytes_all_max, [] {}},
                            .half_read = {limits::half_read_bytes_all_max, [] {}},
                            .unsent = {limits::unsent_bytes_all_max, [] {}}});
    asio::io_context io_;
    Connection::Socket client_{io_};
    std::shared_ptr<Connection> connection_;
    bool served_to_its_end_ = false;
};

TEST_F(ConnectionTrial, OneThatDoesNotReadItsAnswerIsClosedWhenItsTimeIsUp) {
    connect(/*unsent_for_max=*/0ms);
    answer_with(4U << 20U);
    call("1");
    io_.restart();
    while (!served_to_its_end_) ASSERT_GT(io_.run_one_for(20s), 0U) << "nothing will ever close it";

    EXPECT_EQ(budgets_->unsent.held(), 0U);
    EXPECT_EQ(budgets_->asked.held(), 0U);
    ASSERT_FALSE(backend_.hung_up.empty());
    EXPECT_EQ(backend_.hung_up.front(), rpc::ConnectionId{7});
    const auto heard = hear();
    EXPECT_GT(heard.size(), 0U);
    EXPECT_EQ(lines(heard), 0U) << "only what fitted the socket has left";
    EXPECT_TRUE(has_hung_up());
}

TEST_F(ConnectionTrial, OneThatReadsIsNotClosed) {
    connect();
    answer_with(4U << 20U);
    call("1");
    EXPECT_GT(budgets_->unsent.held(), 3U << 20U);
    EXPECT_EQ(connection_->bytes_unsent(), budgets_->unsent.held());
    EXPECT_TRUE(connection_->is_busy());
    const auto heard = hear();

    EXPECT_EQ(lines(heard), 1U);
    EXPECT_GT(heard.size(), 4U << 20U);
    EXPECT_EQ(budgets_->unsent.held(), 0U);
    EXPECT_FALSE(connection_->is_busy());
    EXPECT_FALSE(has_hung_up());
    call("2");
    EXPECT_EQ(lines(hear()), 1U) << "it goes on";
}

TEST_F(ConnectionTrial, NothingIsLookedUpForWhoLeavesMuchUnread) {
    connect();
    answer_with(rpc::owed_bytes_max / 2);
    call("1");
    EXPECT_TRUE(backend_.held.empty());
    answer_with(4U << 20U);
    call("2");
    EXPECT_TRUE(backend_.held.contains(rpc::ConnectionId{7}));

    EXPECT_EQ(lines(hear()), 2U);

    EXPECT_TRUE(backend_.held.empty()) << "it has taken everything";
}

TEST_F(ConnectionTrial, ALineMayBeAsLongAsItsBoundAndNoLonger) {
    connect();
    auto line = call_line("1");
    line.insert(line.size() - 1, limits::line_bytes_max + 1 - line.size(), ' ');
    ASSERT_EQ(line.size(), limits::line_bytes_max + 1) << "with its newline";
    say(line);
    EXPECT_NE(hear().find(R"("result")"), std::string::npos);
    EXPECT_EQ(budgets_->half_read.held(), 0U);

    say(" " + line + call_line("2"));
    const auto heard = hear();
    EXPECT_EQ(lines(heard), 1U);
    EXPECT_NE(heard.find("a line may be 1048576 bytes long"), std::string::npos);
    EXPECT_TRUE(has_hung_up());
    EXPECT_TRUE(served_to_its_end_);
}

TEST_F(ConnectionTrial, NoMoreIsReadWhileTooManyCallsAreUnanswered) {
    connect();
    backend_.holds_reads = true;
    std::string calls;
    for (int id = 1; id <= static_cast<int>(limits::calls_per_connection_max); ++id) {
        calls += read_line(id);
    }
    say(calls);
    EXPECT_EQ(budgets_->asked.held(), calls.size() - limits::calls_per_connection_max)
        << "without newlines";
    const auto held = budgets_->asked.held();
    say(read_line(1000));
    EXPECT_EQ(budgets_->asked.held(), held) << "one more was taken";
    EXPECT_EQ(hear(), "");

    backend_.do_reads();
    EXPECT_EQ(lines(hear()), limits::calls_per_connection_max);
    backend_.do_reads();
    EXPECT_EQ(lines(hear()), 1U);
    EXPECT_EQ(budgets_->asked.held(), 0U);
}

TEST_F(ConnectionTrial, CallsThatWaitForAnEarlierOneCountAsUnanswered) {
    connect();
    backend_.holds_looks = true;
    say(R"({"jsonrpc":"2.0","id":1,"method":"session.close","params":{"session_id":"a"}})"
        "\n");
    const std::string line =
        R"({"jsonrpc":"2.0","id":2,"method":"session.pin","params":{"session_id":"a"}})"
        "\n";
    for (std::size_t i = 1; i < limits::calls_per_connection_max; ++i) say(line);
    const auto held = budgets_->asked.held();
    say(line);
    EXPECT_EQ(budgets_->asked.held(), held) << "one more was taken";
    EXPECT_EQ(hear(), "");

    backend_.do_look();
    EXPECT_EQ(lines(hear()), limits::calls_per_connection_max + 1);
    EXPECT_EQ(budgets_->asked.held(), 0U);
}

TEST_F(ConnectionTrial, OneFewerThanTheMostLeavesRoom) {
    connect();
    backend_.holds_reads = true;
    for (int id = 1; id < static_cast<int>(limits::calls_per_connection_max); ++id) {
        say(read_line(id));
    }
    const auto held = budgets_->asked.held();
    say(read_line(1000));
    EXPECT_GT(budgets_->asked.held(), held);
}

TEST_F(ConnectionTrial, WhoHasSaidAllHearsAllTheAnswers) {
    connect();
    backend_.holds_reads = true;
    auto last = read_line(2);
    last.pop_back();  // whole without its newline
    say(read_line(1) + last);
    EXPECT_EQ(budgets_->half_read.held(), last.size());
    client_.shutdown(Connection::Socket::shutdown_send);
    EXPECT_EQ(hear(), "");
    EXPECT_FALSE(served_to_its_end_);
    EXPECT_TRUE(connection_->is_busy());
    EXPECT_EQ(budgets_->half_read.held(), 0U);

    backend_.do_reads();
    EXPECT_EQ(lines(hear()), 2U);
    EXPECT_TRUE(served_to_its_end_);
    EXPECT_EQ(backend_.hung_up.size(), 1U);
}

TEST_F(ConnectionTrial, AnAnswerToWhoHasGoneCostsNothing) {
    connect();
    backend_.holds_reads = true;
    say(read_line(1));
    connection_->close();
    connection_.reset();
    io_.restart();
    io_.poll();
    EXPECT_TRUE(served_to_its_end_);
    EXPECT_GT(budgets_->asked.held(), 0U) << "it is still in a queue";
    backend_.do_reads();
    EXPECT_EQ(budgets_->asked.held(), 0U);
}

TEST_F(ConnectionTrial, OnlyLongCallsAreRefusedWhenAllAskForTooMuch) {
    connect();
    budgets_->asked.change(0, limits::asked_bytes_all_max + limits::asked_bytes_reserve);
    auto line = call_line("1");
    line.insert(line.size() - 1, limits::short_call_bytes_max + 1 - line.size(), ' ');
    say(line);
    EXPECT_NE(hear().find(R"("result")"), std::string::npos) << "as long as a short call may be";
    line.insert(line.size() - 1, " ");
    say(line);
    EXPECT_NE(hear().find("bytes of calls are waiting already"), std::string::npos);
}

TEST_F(ConnectionTrial, TheFirstCallOfAConnectionMayUseTheReserve) {
    connect();
    backend_.holds_reads = true;
    auto line = read_line(1);
    line.insert(line.size() - 1, 2 * limits::short_call_bytes_max, ' ');
    const auto bytes = line.size() - 1;
    budgets_->asked.change(0, limits::asked_bytes_all_max + limits::asked_bytes_reserve - bytes);
    say(line);
    EXPECT_EQ(hear(), "") << "it fits to the byte, and waits";
    EXPECT_EQ(budgets_->asked.held(), limits::asked_bytes_all_max + limits::asked_bytes_reserve);
    budgets_->asked.change(limits::asked_bytes_reserve, 0);
    say(line);
    EXPECT_NE(hear().find("bytes of calls are waiting already"), std::string::npos)
        << "its second may not";
}

TEST_F(ConnectionTrial, MoreUnreadAnswersThanAreKeptEndIt) {
    connect();
    answer_with(limits::answer_bytes_max - 1000);
    for (const auto* id : {"1", "2", "3"}) call(id);
    const auto heard = hear();
    EXPECT_NE(heard.find("at most 8388608 are kept"), std::string::npos);
    EXPECT_EQ(lines(heard), 3U) << "the first two whole, then why";
    EXPECT_TRUE(has_hung_up());
}

TEST_F(ConnectionTrial, OneThatMustGiveUpWhatItDoesNotReadIsToldBetweenLines) {
    connect();
    answer_with(100);
    call("1");
    connection_->send(std::string(100, '~') + "\n");  // not begun to be sent
    connection_->give_up_unsent();
    const auto heard = hear();
    EXPECT_EQ(heard.find('~'), std::string::npos);
    EXPECT_EQ(lines(heard), 2U);
    EXPECT_NE(heard.find("all clients together leave more than"), std::string::npos);
    EXPECT_TRUE(has_hung_up());
}

TEST_F(ConnectionTrial, OneInTheMiddleOfALongLineIsClosedWithoutAWord) {
    connect();
    answer_with(4U << 20U);
    call("1");
    connection_->give_up_unsent();
    EXPECT_EQ(budgets_->unsent.held(), 0U);
    EXPECT_EQ(lines(hear()), 0U);
    EXPECT_TRUE(has_hung_up());
}

TEST_F(ConnectionTrial, OneThatMustGiveUpAHalfReadLineIsTold) {
    connect();
    say(std::string(1000, 'x'));
    EXPECT_EQ(connection_->bytes_half_read(), 1000U);
    connection_->give_up_half_read();
    EXPECT_EQ(budgets_->half_read.held(), 0U);
    const auto heard = hear();
    EXPECT_NE(heard.find("lines without their end"), std::string::npos);
    EXPECT_EQ(lines(heard), 1U) << "what is left of its line is no call";
    EXPECT_TRUE(has_hung_up());
}

TEST_F(ConnectionTrial, BlankLinesAreNoCalls) {
    connect();
    say("\n \t\r\n\r\n");
    EXPECT_EQ(hear(), "");
    EXPECT_FALSE(connection_->is_busy());
    call("1");
    EXPECT_EQ(lines(hear()), 1U);
}

}  // namespace
}  // namespace knell::net
