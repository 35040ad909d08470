#pragma once

#include <string>
#include <string_view>

#include "client/connection.hpp"
#include "must.hpp"
#include "wire/json.hpp"

namespace knell::bench {

/// One client that makes one call at a time.
class Caller {
  public:
    explicit Caller(const std::string& socket)
        : connection_(must(client::Connection::open(socket, deadline()))) {}

    JsonObject call(std::string_view method, const JsonObject& params) {
        return must(connection_.call(method, params, deadline())).as_object();
    }

  private:
    static client::Deadline deadline() { return client::Deadline{std::chrono::seconds{60}}; }

    client::Connection connection_;
};

}  // namespace knell::bench
