#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "platform/fd.hpp"

namespace knell::testing {

/// An HTTP server on 127.0.0.1 that answers with whatever bytes a test gives it.  It has a thread
/// of its own; all public functions may be called from any.
class LoopbackServer {
  public:
    enum class Then : std::uint8_t {
        keep,   // the connection is for another request
        close,  // it is closed
        hang    // nothing more is said until the server goes, or `release`
    };
    struct Reply {
        std::string bytes;
        Then then = Then::close;
    };
    /// Given a whole request, head and body; called on the server's thread.
    using Script = std::function<Reply(const std::string& request)>;

    explicit LoopbackServer(Script script);
    /// Answers each request with these bytes, then closes.
    explicit LoopbackServer(std::string bytes);
    LoopbackServer(const LoopbackServer&) = delete;
    LoopbackServer& operator=(const LoopbackServer&) = delete;
    ~LoopbackServer();

    std::uint16_t port() const { return port_; }
    /// "http://127.0.0.1:PORT" and `path`.
    std::string url(const std::string& path = "/") const;

    /// All requests so far.
    std::vector<std::string> requests() const;
    std::size_t connections() const;
    /// Says these bytes to everybody who hangs, and closes.
    void release(const std::string& bytes);

  private:
    struct Peer {
        Fd socket;
        std::string received;
        bool hangs = false;
    };

    void run();
    void accept_one();
    /// False when the connection is to be closed.
    bool serve(Peer& peer) KNELL_REQUIRES(mutex_);
    bool answer(Peer& peer, const std::string& request) KNELL_REQUIRES(mutex_);

    const Script script_;
    const Fd listener_;
    const Fd stop_;
    const std::uint16_t port_;

    mutable Mutex mutex_;
    std::list<Peer> peers_ KNELL_GUARDED_BY(mutex_);
    std::vector<std::string> requests_ KNELL_GUARDED_BY(mutex_);
    std::size_t connections_ KNELL_GUARDED_BY(mutex_) = 0;

    std::thread thread_;
};

}  // namespace knell::testing
