#pragma once

#include <string>
#include <string_view>

#include "platform/fd.hpp"

namespace knell::testing {

/// Bytes to and from a TCP port of this machine, as rude as one likes.  Waits for what it wants,
/// but not for ever: then it throws.
class TcpPeer {
  public:
    struct Options {
        int receive_buffer = 0;  // bytes; 0 is what the kernel gives
    };
    /// "127.0.0.1:7717"
    explicit TcpPeer(const std::string& address) : TcpPeer(address, Options{}) {}
    TcpPeer(const std::string& address, const Options& options);

    /// False when the other side has hung up.
    bool send(std::string_view bytes);
    /// Sends until nobody takes any more for the moment; how many bytes went.
    std::size_t send_what_fits(std::string_view bytes);

    // Each gives less when the stream ends before.
    /// Up to and with `end`.
    std::string read_until(std::string_view end);
    std::string read_bytes(std::size_t count);
    std::string read_all();
    /// One HTTP answer that tells its length.
    std::string read_response();

    void close() { fd_.reset(); }
    /// Without a goodbye: what was not sent is lost, as when a cable is pulled and put back.
    void cut();

    int fd() const { return fd_.get(); }

  private:
    bool read_more();
    std::string take(std::size_t count);

    Fd fd_;
    std::string received_;
};

}  // namespace knell::testing
