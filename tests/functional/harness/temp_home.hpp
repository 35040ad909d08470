#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "functional/harness/process.hpp"

namespace knell::functional {

/// A KNELL_HOME of its own.  When it goes, so do daemons that some command left running in it and
/// all its files.
class TempHome {
  public:
    /// `below`: use this folder, made by nobody yet, inside the temporary one.
    explicit TempHome(std::string_view below = {});
    TempHome(const TempHome&) = delete;
    TempHome& operator=(const TempHome&) = delete;
    ~TempHome();

    const std::string& path() const { return path_; }
    std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
    std::string socket() const { return file("knell.sock"); }
    Environment environment() const { return {{"KNELL_HOME", path_}}; }

    /// Runs `knell ARGUMENTS...` in this home; `up` without HTTP, unless it says otherwise.
    Outcome knell(std::vector<std::string> arguments, std::string_view input = {}) const;
    /// The same, not run yet.
    Spawn command(std::vector<std::string> arguments) const;

    /// What runs in it and has outlived its parent: daemons that some command started.
    std::vector<pid_t> processes() const;

  private:
    void end_what_runs() const;

    std::string root_;
    std::string path_;
};

std::string read_file(const std::string& path);
/// Its permissions; 0 when there is no such file.
unsigned mode_of(const std::string& path);
void write_file(const std::string& path, std::string_view text);
std::vector<std::string> names_in(const std::string& folder);

}  // namespace knell::functional
