#include "testing/hermes_store.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <sqlite3.h>

namespace knell::testing {

namespace {

constexpr double new_year = 1'767'225'600;  // 2026-01-01T00:00:00Z

constexpr auto schema_11 = R"(
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (11);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
    parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
    message_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0, title TEXT);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER);
CREATE INDEX idx_messages_session ON messages (session_id, timestamp);
)";

constexpr auto from_11_to_26 = R"(
UPDATE schema_version SET version = 26;
ALTER TABLE sessions ADD COLUMN session_key TEXT;
ALTER TABLE sessions ADD COLUMN chat_type TEXT;
ALTER TABLE sessions ADD COLUMN cwd TEXT;
ALTER TABLE sessions ADD COLUMN expiry_finalized INTEGER DEFAULT 0;
ALTER TABLE sessions ADD COLUMN last_activity_at REAL;
ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
CREATE TABLE gateway_routing (
    scope TEXT NOT NULL DEFAULT '', session_key TEXT NOT NULL, entry_json TEXT NOT NULL,
    updated_at REAL NOT NULL, PRIMARY KEY (scope, session_key));
CREATE TABLE session_turn_leases (
    conversation_id TEXT PRIMARY KEY, holder TEXT NOT NULL, acquired_at REAL NOT NULL,
    expires_at REAL NOT NULL);
CREATE TABLE compression_locks (
    session_id TEXT PRIMARY KEY, holder TEXT NOT NULL, acquired_at REAL NOT NULL,
    expires_at REAL NOT NULL);
)";

std::string quoted(const std::string& text) {
    std::string sql = "'";
    for (const char letter : text) sql += letter == '\'' ? std::string("''") : std::string{letter};
    return text.empty() ? "NULL" : sql + "'";
}

}  // namespace

HermesStore::HermesStore(std::string dir, Version version)
    : dir_(std::move(dir)), database_(nullptr, sqlite3_close) {
    std::filesystem::create_directories(dir_);
    sqlite3* opened = nullptr;
    sqlite3_open(database().c_str(), &opened);
    database_.reset(opened);
    run(schema_11);
    if (version == Version::schema_26) run(from_11_to_26);
}

HermesStore::~HermesStore() = default;

void HermesStore::run(const std::string& sql) {
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        throw std::runtime_error(fmt::format("{}: {}", sqlite3_errmsg(database_.get()), sql));
    }
}

void HermesStore::add_session(const std::string& id, const std::string& source, int started,
                              int messages, const std::string& end_reason,
                              const std::string& parent) {
    const double at = new_year + started;
    run(
        fmt::format("INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, "
                    "end_reason, message_count, model) VALUES ({}, {}, {}, {}, {}, {}, {}, 'm')",
                    quoted(id), quoted(source), quoted(parent), at,
                    end_reason.empty() ? "NULL" : fmt::format("{}", at + messages + 1),
                    quoted(end_reason), messages));
    for (int number = 0; number < messages; ++number) {
        run(
            fmt::format("INSERT INTO messages (session_id, role, content, timestamp, token_count) "
                        "VALUES ({}, {}, {}, {}, 3)",
                        quoted(id), number % 2 == 0 ? "'user'" : "'assistant'",
                        quoted(fmt::format("message {} of {}", number, id)), at + number));
    }
}

void HermesStore::write(const std::string& name, const std::string& text) const {
    const auto path = std::filesystem::path(dir_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

void HermesStore::close() {
    database_.reset();
}

}  // namespace knell::testing
