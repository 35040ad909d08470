#pragma once

#include <chrono>
#include <memory>
#include <semaphore>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "daemon/read_thread.hpp"
#include "net/event_loop.hpp"
#include "rpc/backend.hpp"

namespace knell {

/// The reads of clients: done on a thread of their own, answered on the server's.
///
/// No faster than they are taken: the next is done when an earlier one is on its way, and for a
/// connection only while that is owed little (see ReadQueue).  A reader that is quicker than the
/// network would fill memory with answers that nobody takes.
class ReadService {
  public:
    /// `loop` is used once something is read.
    ReadService(std::unique_ptr<Reader> reader, net::EventLoop& loop)
        : loop_(loop), thread_(std::move(reader), "knell-reader", /*niceness=*/0) {}

    /// `done` gets what `work` gives, on the server's thread.
    template <typename Work, typename Done>
    void run(rpc::ConnectionId asker, Work work, Done done) {
        // Held here so that a full queue can still answer.
        auto held = std::make_shared<Done>(std::move(done));
        auto read = [this, held, work = std::move(work)](Reader& reader) mutable {
            while (!answers_in_flight_.try_acquire_for(std::chrono::milliseconds{100})) {
                if (thread_.is_stopping()) return;
            }
            loop_.post([this, held, result = work(reader)]() mutable {
                (*held)(std::move(result));
                answers_in_flight_.release();
            });
        };
        auto drop = [held] { (*held)(fail(ErrorCode::unreachable, "the client hung up")); };
        if (!thread_.submit(asker, {std::move(read), std::move(drop)})) {
            (*held)(fail(ErrorCode::limit, fmt::format("{} reads are waiting already; try again in "
                                                       "a moment",
                                                       limits::queue_reads_max)));
        }
    }

    /// What a client asked for.  It is made text there, too, not on the thread of all sockets.
    void answer(rpc::ConnectionId asker, rpc::ReadWork work, rpc::Respond done) {
        auto read = [this, asker, work = std::move(work)](Reader& reader) mutable -> Result<Text> {
            auto result = work(reader);
            if (!result) return std::unexpected(std::move(result.error()));
            Text text{std::move(*result).text()};
            thread_.owe(asker, text.text.size());
            return text;
        };
        auto give = [this, asker, done = std::move(done)](Result<Text> read) mutable {
            if (!read) return done(std::unexpected(std::move(read.error())));
            const auto bytes = read->text.size();
            done(wire::Rendered::from_text(std::move(read->text)));
            thread_.settle(asker, bytes);  // by now its connection holds it, if it has to
        };
        run(asker, std::move(read), std::move(give));
    }

    /// Nobody waits for those of that connection any more.
    void drop(rpc::ConnectionId asker) {
        for (auto& read : thread_.take_out(asker)) read.drop();
    }
    void hold(rpc::ConnectionId asker, bool is_held) { thread_.hold(asker, is_held); }

    ReadThread& thread() { return thread_; }
    std::size_t queued() const { return thread_.queued(); }

  private:
    struct Text {
        std::string text;
    };
    static constexpr std::ptrdiff_t answers_in_flight_max = 16;

    net::EventLoop& loop_;
    std::counting_semaphore<answers_in_flight_max> answers_in_flight_{answers_in_flight_max};
    ReadThread thread_;
};

}  // namespace knell
