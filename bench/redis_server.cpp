#include "redis_server.hpp"

namespace knell::bench {

RedisServer::RedisServer(const Lab& lab)
    : home_(lab.new_home()),
      process_({"redis-server", "--port", std::to_string(redis_port), "--bind", "127.0.0.1",
                "--dir", home_->path(), "--appendonly", "yes", "--appendfsync", "always", "--save",
                "", "--notify-keyspace-events", "Ex", "--daemonize", "no"},
               home_->path() + "/redis.log") {}

}  // namespace knell::bench
