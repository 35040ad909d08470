// The address of a daemon: what is there already, and what the kernel may refuse.

#include "net/listener.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "platform/paths.hpp"
#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell::net {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

sockaddr_un unix_address(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(path, std::begin(address.sun_path));
    return address;
}

Fd connect_to(const std::string& path) {
    const auto address = unix_address(path);
    Fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(fd.get(), generic, sizeof address) != 0) fd.reset();
    return fd;
}

class ListenerTrial : public ::testing::Test {
  protected:
    SocketAddress claim() {
        auto address = SocketAddress::claim(path_, "/home/of/this");
        if (!address) throw std::runtime_error(address.error().message);
        return std::move(*address);
    }
    /// Binds while the kernel refuses a call; the message.
    std::string bind_refused(SocketAddress& address, long call, int error) {
        std::string message;
        knell::testing::with_refused_calls({call}, error, [&] {
            const auto bound = address.bind();
            message = bound ? "bound" : bound.error().message;
        });
        return message;
    }
    ino_t inode() const {
        struct stat found{};
        return lstat(path_.c_str(), &found) == 0 ? found.st_ino : 0;
    }

    const knell::testing::TempFolder temp_;
    const std::string folder_ = temp_.path() + "/run";
    const std::string path_ = folder_ + "/knell.sock";
};

TEST_F(ListenerTrial, OnlyItsUserMayReachIt) {
    auto address = claim();
    const auto listener = address.bind();
    ASSERT_TRUE(listener);
    EXPECT_TRUE(address.is_bound());
    EXPECT_TRUE(connect_to(path_));
    EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(fs::status(folder_).permissions(), fs::perms::owner_all);
}

TEST_F(ListenerTrial, ItIsRemovedAtTheEnd) {
    auto address = claim();
    const auto listener = address.bind();
    ASSERT_TRUE(listener);
    address.remove();
    EXPECT_FALSE(fs::exists(path_));
    EXPECT_FALSE(address.is_bound());
}

TEST_F(ListenerTrial, WhatSomebodyPutInItsPlaceIsNotRemoved) {
    auto address = claim();
    const auto listener = address.bind();
    ASSERT_TRUE(listener);
    fs::remove(path_);
    std::ofstream(path_) << "notes";
    EXPECT_FALSE(address.is_bound());
    address.remove();
    EXPECT_TRUE(fs::exists(path_));
}

TEST_F(ListenerTrial, NothingIsRemovedWithoutTheLock) {
    auto address = claim();
    const auto listener = address.bind();
    ASSERT_TRUE(listener);
    fs::remove(lock_beside(path_));
    EXPECT_FALSE(address.is_bound());
    address.remove();
    EXPECT_TRUE(fs::exists(path_)) << "it may be another daemon's by now";
}

TEST_F(ListenerTrial, NothingIsRemovedThatWasNeverBound) {
    std::ignore = claim();
    std::ofstream(path_) << "notes";
    auto address = claim();
    address.remove();
    EXPECT_TRUE(fs::exists(path_));
}

TEST_F(ListenerTrial, ASecondOneIsToldWhoIsThere) {
    const auto first = claim();
    const auto second = SocketAddress::claim(path_, "/another/home");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::owned);
    EXPECT_THAT(second.error().message, HasSubstr("for the home /home/of/this"));
}

TEST_F(ListenerTrial, AHolderThatDoesNotSayWhoItIsIsStillOne) {
    const auto first = claim();
    fs::resize_file(lock_beside(path_), 0);
    const auto second = SocketAddress::claim(path_, "/another/home");
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("another process already listens at"));
}

TEST_F(ListenerTrial, ADirectoryThatCannotBeMadeIsNamed) {
    std::ofstream(folder_) << "a file";
    for (const auto& path : {path_, folder_ + "/below/knell.sock"}) {
        const auto address = SocketAddress::claim(path, "home");
        ASSERT_FALSE(address);
        EXPECT_THAT(address.error().message, HasSubstr(folder_));
    }
}

TEST_F(ListenerTrial, ADirectoryOfAllUsersIsRefused) {
    fs::create_directory(folder_);
    ASSERT_EQ(chmod(folder_.c_str(), 01777), 0);
    EXPECT_FALSE(SocketAddress::claim(path_, "home"));
}

TEST_F(ListenerTrial, ALockThatCannotBeOpenedIsAnError) {
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    fs::create_directory(lock_beside(path_));
    const auto address = SocketAddress::claim(path_, "home");
    ASSERT_FALSE(address);
    EXPECT_EQ(address.error().code, ErrorCode::storage);
}

TEST_F(ListenerTrial, WhatCannotBeBoundAgainIsSaid) {
    auto address = claim();
    ASSERT_TRUE(address.bind());
    fs::remove_all(folder_);
    std::ofstream(folder_) << "a file where the directory was";
    EXPECT_FALSE(address.bind());

    fs::remove(folder_);
    fs::create_directory(folder_);
    ASSERT_EQ(chmod(folder_.c_str(), 01777), 0);
    const auto shared = address.bind();
    ASSERT_FALSE(shared);
    EXPECT_THAT(shared.error().message, HasSubstr("shared by all users"));
}

TEST_F(ListenerTrial, ADirectoryThatCannotBeMadeAgainIsNamed) {
    auto address = SocketAddress::claim(folder_ + "/below/knell.sock", "home");
    ASSERT_TRUE(address) << address.error().message;
    fs::remove_all(folder_);
    std::ofstream(folder_) << "a file where the directory was";
    const auto bound = address->bind();
    ASSERT_FALSE(bound);
    EXPECT_THAT(bound.error().message, HasSubstr("cannot make the directory"));
}

TEST_F(ListenerTrial, ALockThatAnotherTookMeanwhileIsRespected) {
    auto address = claim();
    const auto listener = address.bind();
    ASSERT_TRUE(listener);
    fs::remove(lock_beside(path_));
    const auto other = claim();
    const auto before = inode();

    const auto again = address.bind();

    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::owned);
    EXPECT_EQ(inode(), before);
}

TEST_F(ListenerTrial, ANameLongerThanTheKernelTakesIsRefused) {
    auto address = SocketAddress::claim(folder_ + "/" + std::string(120, 'n'), "home");
    ASSERT_TRUE(address) << address.error().message;
    const auto bound = address->bind();
    ASSERT_FALSE(bound);
    EXPECT_THAT(bound.error().message, HasSubstr("File name too long"));
}

TEST_F(ListenerTrial, WithoutADescriptorNothingIsTakenOutOfTheWay) {
    auto address = claim();
    {
        const auto dead = address.bind();
    }
    const auto before = inode();
    ASSERT_NE(before, 0U);
    EXPECT_THAT(bind_refused(address, SYS_socket, EMFILE), HasSubstr("Too many open files"));
    EXPECT_EQ(inode(), before);
}

TEST_F(ListenerTrial, OneThatSomebodyAnswersIsLeftAlsoWhenThereIsNoDescriptorToAsk) {
    auto theirs = claim();
    const auto listener = theirs.bind();
    fs::remove(lock_beside(path_));
    auto ours = claim();
    const auto before = inode();
    EXPECT_THAT(bind_refused(ours, SYS_socket, EMFILE), HasSubstr("Too many open files"));
    EXPECT_EQ(inode(), before);
    const auto bound = ours.bind();
    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().code, ErrorCode::owned);
}

TEST_F(ListenerTrial, SomebodysSocketOfAnotherKindIsLeft) {
    auto address = claim();
    const Fd theirs{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    const auto name = unix_address(path_);
    ASSERT_EQ(::bind(theirs.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    const auto before = inode();

    const auto bound = address.bind();

    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().code, ErrorCode::owned);
    EXPECT_EQ(inode(), before);
}

TEST_F(ListenerTrial, OnesOwnSocketIsBoundAgainWithoutAsking) {
    auto address = claim();
    const auto first = address.bind();
    ASSERT_TRUE(first);
    const auto second = address.bind();
    EXPECT_TRUE(second) << second.error().message;
    EXPECT_TRUE(address.is_bound());
}

TEST_F(ListenerTrial, WhatTheKernelRefusesIsSaid) {
    for (const auto call : {SYS_bind, SYS_chmod, SYS_listen}) {
        auto address = claim();
        EXPECT_THAT(bind_refused(address, call, EACCES), HasSubstr("Permission denied")) << call;
        EXPECT_FALSE(address.is_bound());
        fs::remove(path_);
    }
}

}  // namespace
}  // namespace knell::net
