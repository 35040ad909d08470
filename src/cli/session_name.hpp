#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/connection.hpp"

namespace knell::cli {

// How people name a session: by its id, by any beginning of it that no other session's id has, as
// @last (the one that was opened last; of no sub-agent or cron job) or @N (the Nth from there: @1
// is @last, @2 the one before it), and some verbs by its routing key.  An id that is written out
// always means that session.

/// Its whole id.  What could be several is an error that lists them.
Result<std::string> find_id(client::Connection& connection, const std::string& name);

/// The same, but what no session is called is taken as it is: events and processes outlive the
/// record of their session.
Result<std::string> find_id_or_keep(client::Connection& connection, const std::string& name);

/// For each the shortest text that find_id takes, as of now; as they are from a daemon that does
/// not tell.
Result<std::vector<std::string>> short_ids(client::Connection& connection,
                                           const std::vector<std::string>& ids);

/// What stands for ids on a screen, as it was found so far.
using ShortIds = std::map<std::string, std::string, std::less<>>;
/// Adds those that are missing; whole ids do as well where the daemon does not tell.
void add_short_ids(client::Connection& connection, const std::vector<std::string>& ids,
                   ShortIds& known);

/// A session that somebody names on the command line, by its id or by its key.
struct NamedSession {
    JsonObject params;                  // as session.reset and session.suspend take them
    std::optional<JsonObject> session;  // of session.show or session.list; none: of that key
};

/// What is the id of a session is one, else it is a key (of the open session, else of the newest),
/// else the beginning of an id.
Result<NamedSession> find_named(client::Connection& connection, const std::string& name);
Error no_session_named(std::string_view name);
/// The same for those who need one.
Result<JsonObject> find_session(client::Connection& connection, const std::string& name);

}  // namespace knell::cli
