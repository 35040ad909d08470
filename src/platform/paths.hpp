#pragma once

#include <functional>
#include <string>

namespace knell {

/// What paths are made from: handed in, so that a test needs no environment of its own.
struct PathSources {
    std::function<std::string(const char*)> variable;  // "" when unset
    std::string home;                                  // the person's home directory
    std::string cwd;
    unsigned uid = 0;
};

/// The lock that guards the address of a daemon, beside its socket.
inline std::string lock_beside(const std::string& socket) {
    return socket + ".lock";
}

/// Where everything lives.  $KNELL_HOME when set holds it all; else the XDG directories.
struct Paths {
    std::string config_file;  // config.yaml
    std::string hooks_dir;
    std::string state_dir;   // knell.db, knell.lock, token, archive/, spool/, knell.log
    std::string store_file;  // state_dir/knell.db
    std::string lock_file;   // state_dir/knell.lock
    std::string spool_dir;   // state_dir/spool
    std::string log_file;    // state_dir/knell.log
    std::string runtime_dir;
    std::string listen_socket;  // runtime_dir/knell.sock: where a daemon of this home listens
    std::string socket;         // where clients call: the same, unless KNELL_SOCKET names another
    bool socket_is_named = false;  // KNELL_SOCKET is set, if only to the same

    /// Reads KNELL_HOME, KNELL_SOCKET (`socket` only), XDG_* and HOME from the environment.
    static Paths from_environment();
    /// Pure.  Every path in the result is absolute.
    static Paths from(const PathSources& sources);

    /// False when KNELL_SOCKET sends clients to the daemon of another home.
    bool calls_own_daemon() const;
};

}  // namespace knell
