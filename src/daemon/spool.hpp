#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rpc/backend.hpp"

namespace knell {

/// Takes in what `knell run` wrote down while no daemon could be reached: one file a session, one
/// call a line.  A file is deleted once all its calls are durable; one that cannot be understood is
/// set aside as *.bad, never deleted.
///
/// Files are found, read and parsed on the read thread, a few at a time; everything else happens on
/// the thread that dispatches calls.  Outlives the backend's threads.
class SpoolIntake {
  public:
    SpoolIntake(std::string spool_dir, rpc::Backend& backend)
        : spool_dir_(std::move(spool_dir)), backend_(backend) {}

    /// Begins a look, unless one is still under way.  Returns at once.
    void look();
    /// `then` once all that is there now was taken in, or cannot be.
    void look(std::move_only_function<void()> then);

  private:
    void advance();
    void load(const std::string& path);
    void finish_one();
    void settle_look();
    void say_why_it_stays(const std::string& path, const std::string& why);

    const std::string spool_dir_;
    rpc::Backend& backend_;
    /// By path, why it stays: found in this look and in the one before.
    std::map<std::string, std::string> said_;
    std::map<std::string, std::string> said_before_;
    bool looking_ = false;
    std::deque<std::string> waiting_;
    std::size_t under_way_ = 0;
    /// Who waits for the look under way, and who came too late for it.
    std::vector<std::move_only_function<void()>> waiting_for_this_;
    std::vector<std::move_only_function<void()>> waiting_for_next_;
};

}  // namespace knell
