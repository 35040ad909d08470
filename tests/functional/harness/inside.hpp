#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "functional/harness/client.hpp"
#include "functional/harness/process.hpp"
#include "functional/harness/temp_home.hpp"

namespace knell::functional {

/// Runs `argv` as the first process of a pid namespace that ends with this.
Spawn inside(Spawn spawn, bool mount_proc = true);
bool may_unshare();

/// A namespace ends a moment after the process that keeps it does.
void wait_until_unlocked(const TempHome& home);

/// Waits for a line on the pipe.
std::string line_of(const Pipe& pipe, std::string& said);

/// A daemon in a namespace, and clients outside of it.
class InsideDaemon : public testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override { end(); }
    void end();
    void start();
    Json show(const std::string& id);
    /// The namespace of the daemon.
    std::uint64_t inode_inside() const;
    /// The kernel gives a free inode to the next namespace: this one takes it.
    void keep_that_inode_taken();
    std::string last_seen(const std::string& id);

    TempHome home;
    std::optional<Process> daemon;
    std::optional<Process> taken;
    std::vector<Pipe> logs;
};

}  // namespace knell::functional
