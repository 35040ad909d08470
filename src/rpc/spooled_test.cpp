#include "rpc/spooled.hpp"

#include <gtest/gtest.h>

#include "testing/in_process_backend.hpp"

namespace knell::rpc {
namespace {

/// A `knell run` in pid namespace 2 wrote down that it opened a session for process 7, which began
/// at tick 5; the daemon sees that process as 4242.
class Spooled : public ::testing::Test {
  protected:
    Spooled() { backend_.fake_processes().show(2, 7, 4242); }

    ProcessIdentity owner_of_a_create() {
        const auto command = decode_spooled("session.create", params_, WallTime{}, backend_);
        EXPECT_TRUE(command) << command.error().message;
        return std::get<Create>(*command).draft.owner.process;
    }

    testing::InProcessBackend backend_;
    const ProcessIdentity as_written_{7, 5, 2, "boot-1"};

  private:
    const JsonObject params_{
        {"source", "cli"},
        {"owner",
         JsonObject{{"pid", 7}, {"start_ticks", 5}, {"boot_id", "boot-1"}, {"pid_namespace", 2}}}};
};

TEST_F(Spooled, AnOwnerElsewhereIsWhoItIsHere) {
    backend_.fake_processes().start(4242, 5);
    EXPECT_EQ(owner_of_a_create(), (ProcessIdentity{4242, 5, 1, "boot-1"}));
}

TEST_F(Spooled, AnOwnerWhoseNumberWasGivenAnewStaysAsItWasWritten) {
    backend_.fake_processes().start(4242, 6);
    EXPECT_EQ(owner_of_a_create(), as_written_);
}

TEST_F(Spooled, AnOwnerThatIsGoneStaysAsItWasWritten) {
    EXPECT_EQ(owner_of_a_create(), as_written_);
}

TEST_F(Spooled, AnOwnerOfAnotherBootStaysAsItWasWritten) {
    backend_.fake_processes().set_boot_id("boot-2");
    backend_.fake_processes().start(4242, 5);
    EXPECT_EQ(owner_of_a_create(), as_written_);
}

}  // namespace
}  // namespace knell::rpc
