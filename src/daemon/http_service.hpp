#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/mutex.hpp"
#include "config/config_holder.hpp"
#include "net/http/server.hpp"
#include "platform/paths.hpp"
#include "platform/token_file.hpp"

namespace knell {

/// Serves HTTP clients as the config and the token files say, and goes on doing so when these
/// change: looks once a second.  On the loop's thread, unless said otherwise.
class HttpService {
  public:
    /// `listen` stands for http.listen of the config, where it is not "".
    HttpService(const Paths& paths, std::string listen, const ConfigHolder& config,
                net::EventLoop& loop, rpc::Dispatcher& dispatcher, net::ClientCount& clients,
                std::function<bool()> is_ready);
    ~HttpService() { stop(); }

    /// An error only where somebody asked for what must not be.  An address that is taken is a
    /// warning, and tried again.
    Result<void> start();
    /// Once the loop has stopped, or never ran.
    void stop();

    /// One look: tokens, rules, the address.
    void look();

    /// Where it listens, "127.0.0.1:7717"; "" where it does not.  Any thread.
    std::string address() const;
    /// Why it serves nobody although it should; "" where nothing is wrong.  Any thread.
    std::string trouble() const;

  private:
    HttpSettings settings() const;
    void refresh_rules(const HttpSettings& settings);
    std::string token(TokenKind kind, std::string& said);
    void refresh_address(const HttpSettings& settings);
    void listen(const ListenAddress& wanted);
    void set_address(std::string address);
    void set_trouble(std::string trouble);

    const Paths& paths_;
    const std::string listen_;
    const ConfigHolder& config_;
    net::EventLoop& loop_;
    net::http::Server server_;

    // The loop's thread.
    std::optional<ListenAddress> bound_;  // as it was asked for
    std::string said_;                    // what was logged last, to be said once
    std::string said_of_token_;
    std::string said_of_read_token_;

    mutable Mutex mutex_;
    std::string address_ KNELL_GUARDED_BY(mutex_);
    std::string trouble_ KNELL_GUARDED_BY(mutex_);
};

/// The file that names where a running daemon serves HTTP: state_dir/http.addr.
std::string http_address_path(const Paths& paths);

}  // namespace knell
