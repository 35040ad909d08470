#pragma once

#include <memory>
#include <utility>

#include "net/event_loop.hpp"

namespace knell {

/// `done` for another thread to call.
template <typename Done>
auto on_loop(net::EventLoop& loop, Done done) {
    return [&loop, held = std::make_shared<Done>(std::move(done))](auto value) {
        loop.post([held, value = std::move(value)]() mutable { (*held)(std::move(value)); });
    };
}

}  // namespace knell
