#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace knell::rpc {

/// Something that a connection carries besides answers.  The connection owns it and takes it along
/// when it goes.
class Feed {
  public:
    virtual ~Feed() = default;
    /// Some of what was sent has left: there may be room for more.
    virtual void go_on() = 0;
};

/// A client's connection, to those who have more to tell it than answers.  None of this calls back
/// or ends the feed before it returns.  One thread, the dispatcher's.
class Stream {
  public:
    virtual ~Stream() = default;

    /// Whole lines, behind all that was sent and answered before.
    virtual void send(std::string_view lines) = 0;
    /// Bytes that the client has yet to take.
    virtual std::size_t unsent() const = 0;
    /// Says why, then closes the connection.
    virtual void finish(std::string_view last_line) = 0;

    /// One at a time.
    virtual void attach(std::unique_ptr<Feed> feed) = 0;
    virtual void detach() = 0;
    virtual bool has_feed() const = 0;
};

}  // namespace knell::rpc
