#include "watch/cookie.hpp"

#include <string>

#include <gtest/gtest.h>

#include "testing/fake_tree.hpp"

namespace knell {
namespace {

TEST(Cookie, IsReadFromAnEnvironment) {
    using namespace std::string_literals;
    const auto cookie = cookie_in(
        "HOME=/\0KNELL_SESSION_ID=s\0XKNELL_SOCKET=no\0KNELL_SOCKET=/a\0KNELL_GENERATION=2\0"s
        "KNELL_PROCESS_ID=p\0KNELL_SESSION_ID=second"s);
    EXPECT_EQ(cookie, (Cookie{"s", "2", "/a", "p"}));
    EXPECT_TRUE(cookie.is_of_session());
    EXPECT_EQ(cookie_in(""), Cookie{});
    EXPECT_FALSE(cookie_in("KNELL_SESSION_ID=s\0KNELL_GENERATION=2"s).is_of_session());
    EXPECT_FALSE(cookie_in("KNELL_SESSION_ID=s\0KNELL_SOCKET=/a"s).is_of_session());
    EXPECT_FALSE(cookie_in("KNELL_GENERATION=2\0KNELL_SOCKET=/a"s).is_of_session());
}

TEST(Cookie, ItsSocketMayBeNamedFromAnotherRoot) {
    struct Mounted final : testing::FakeTree {
        bool is_same_file(const std::string& one, const std::string& other) const override {
            return one == other || one == "/proc/7/root" + other;
        }
    } tree;
    EXPECT_TRUE(is_same_socket(7, "/a", "/a", tree));
    EXPECT_FALSE(is_same_socket(7, "/b", "/a", tree));
    testing::FakeTree plain;
    EXPECT_FALSE(is_same_socket(7, "/b", "/a", plain));
    struct Elsewhere final : testing::FakeTree {
        bool is_same_file(const std::string& one, const std::string&) const override {
            return one == "/proc/7/root/inside";
        }
    } elsewhere;
    EXPECT_TRUE(is_same_socket(7, "/inside", "/outside", elsewhere));
    EXPECT_FALSE(is_same_socket(8, "/inside", "/outside", elsewhere));
}

}  // namespace
}  // namespace knell
