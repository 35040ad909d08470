#include "watch/process_tree.hpp"

#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watch/process_table.hpp"

namespace knell {
namespace {

/// A process that executes one program after another, with one environment.
pid_t start_executing() {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    constexpr auto again = "[ $1 = 0 ] || exec /bin/sh -c \"$0\" \"$0\" $(($1 - 1))";
    const char* const words[] = {"sh", "-c", again, again, "300", nullptr};
    const char* const environment[] = {"COOKIE=ours", nullptr};
    ::execve("/bin/sh", const_cast<char**>(words), const_cast<char**>(environment));
    ::_exit(125);
}

TEST(ProcTreeTest, AProcessThatExecutesAProgramKeepsItsEnvironment) {
    const ProcTable table;
    const ProcTree tree(table);
    const pid_t pid = start_executing();
    const auto text = [&] { return tree.environment(pid).value_or(""); };
    while (!text().contains("COOKIE=ours")) {  // it still is a copy of ours
    }

    int missed = 0;
    int missed_since = 0;  // of one that ends it is gone for good
    for (auto stat = tree.stat(pid); stat && !stat->is_dead(); stat = tree.stat(pid)) {
        if (text().contains("COOKIE=ours")) {
            missed += std::exchange(missed_since, 0);
        } else {
            ++missed_since;
        }
    }

    EXPECT_EQ(missed, 0);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace knell
