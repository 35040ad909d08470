#pragma once

#include <string>

#include "rpc/stream.hpp"

namespace knell::testing {

/// A connection that keeps what it is sent, and takes as much as there is.
class SilentStream final : public rpc::Stream {
  public:
    explicit SilentStream(std::size_t feeds_max = 1) : feeds_(feeds_max) {}

    const wire::Framing& framing() const override { return wire::json_lines; }
    void send(std::string_view messages) override { sent += messages; }
    std::size_t unsent() const override { return 0; }
    void finish(const Error& why) override { finished = why.message; }
    rpc::FeedSet& feeds() override { return feeds_; }

    std::string sent;
    std::string finished;

  private:
    rpc::FeedSet feeds_;
};

}  // namespace knell::testing
