#pragma once

#include <memory>
#include <string>

struct sqlite3;

namespace knell::testing {

/// A home of Hermes Agent, made as its versions lay it out: small, and as a test fills it.  Gone
/// with the folder it is in.
class HermesStore {
  public:
    enum class Version { schema_11, schema_26 };

    /// `dir` is made.
    HermesStore(std::string dir, Version version);
    ~HermesStore();
    HermesStore(const HermesStore&) = delete;
    HermesStore& operator=(const HermesStore&) = delete;

    const std::string& dir() const { return dir_; }
    std::string database() const { return dir_ + "/state.db"; }
    /// Throws when it fails.
    void run(const std::string& sql);
    /// A session that started so many seconds after 2026-01-01, with messages every second.
    /// `end_reason` "": it has no end.
    void add_session(const std::string& id, const std::string& source, int started, int messages,
                     const std::string& end_reason = "", const std::string& parent = "");
    /// A file beside the database.
    void write(const std::string& name, const std::string& text) const;
    /// Nothing of ours has it open any more.
    void close();

  private:
    std::string dir_;
    std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_;
};

}  // namespace knell::testing
