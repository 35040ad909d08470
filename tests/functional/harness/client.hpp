#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/fd.hpp"
#include "wire/json.hpp"

namespace knell::functional {

/// What is at "a.b.0.c" in a value, or null.
const Json& at(const Json& value, std::string_view path);
std::string text(const Json& value, std::string_view path);
std::int64_t number(const Json& value, std::string_view path);
const JsonArray& array(const Json& value, std::string_view path);
/// Throws unless it is JSON.
Json parse(std::string_view text);

/// One answer line.
struct Answer {
    Json whole;

    bool ok() const { return !at(whole, "result").is_null(); }
    const Json& result() const { return at(whole, "result"); }
    std::int64_t code() const { return number(whole, "error.code"); }
    std::string kind() const { return text(whole, "error.data.kind"); }
    std::string field() const { return text(whole, "error.data.field"); }
    std::string message() const { return text(whole, "error.message"); }
};

/// Bytes over the daemon's socket, lines back.  A wait past `wait_max` throws.
class Client {
  public:
    explicit Client(const std::string& socket);

    /// False when the daemon has closed the connection.
    bool send(std::string_view bytes);
    /// Sends until nobody takes any more for the moment; how many bytes went.
    std::size_t send_what_fits(std::string_view bytes);
    /// Nothing more will be sent; answers may still come.
    void finish_sending();
    void close() { fd_.reset(); }

    /// Without its newline; nothing at the end of the stream.
    std::optional<std::string> read_line();
    /// The next line as an answer; throws at the end of the stream.
    Answer read_answer();
    /// Reads to the end of the stream; true when there was nothing more.
    bool is_closed() { return !read_line().has_value(); }

    /// Sends one call under a new id and reads its answer.
    Answer call(std::string_view method, std::string_view params = "{}");
    /// The same, but an error throws.
    Json must(std::string_view method, std::string_view params = "{}");
    /// The same, but nothing when the daemon is gone.
    std::optional<Answer> try_call(std::string_view method, std::string_view params);
    /// A line as it is, without its newline; then its answer.
    Answer ask(std::string_view line);

    int fd() const { return fd_.get(); }

  private:
    Fd fd_;
    std::string received_;
    std::int64_t last_id_ = 0;
};

}  // namespace knell::functional
