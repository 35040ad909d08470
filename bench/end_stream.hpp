#pragma once

#include <string>
#include <vector>

#include "platform/fd.hpp"

namespace knell::bench {

/// A stream on which a server tells of ends, read by whoever waits for them.
///
/// Ends are numbered, and `marker` stands right before the number wherever the server names one:
/// that is all that is looked at, because it shares the cores with the server.
class EndStream {
  public:
    enum class Framing { plain, http_chunks };

    EndStream(Fd socket, std::string marker, Framing framing = Framing::plain);

    /// How a number is written behind the marker.
    static std::string digits_of(std::size_t number);

    /// From now on ends `first` to `first + count - 1` are awaited.
    void expect(std::size_t first, std::size_t count);
    /// Reads for `seconds`, or until every end that is awaited has been heard.
    void read_for(double seconds);

    bool is_complete() const { return heard_ == heard_at_.size(); }
    std::size_t unheard() const { return heard_at_.size() - heard_; }
    /// When each was heard, on the clock of seconds_now; 0: not yet.
    const std::vector<double>& heard_at() const { return heard_at_; }

  private:
    void take_chunks();
    void take_text(double now);

    Fd socket_;
    const std::string marker_;
    const Framing framing_;
    bool in_headers_;
    std::string raw_;   // with chunk sizes between
    std::string text_;  // what may still hold a marker
    std::vector<char> buffer_;
    std::size_t first_ = 0;
    std::size_t heard_ = 0;
    std::vector<double> heard_at_;
};

}  // namespace knell::bench
