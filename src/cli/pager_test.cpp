#include "cli/pager.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Pager, IsStartedWithItsWords) {
    EXPECT_EQ(pager_argv("less -FRX"), (Words{"less", "-FRX"}));
    EXPECT_EQ(pager_argv("  most  "), Words{"most"});
    EXPECT_EQ(pager_argv(""), Words{});
}

TEST(Pager, WhatOnlyAShellUnderstandsIsItsBusiness) {
    EXPECT_EQ(pager_argv("LESS=R less | cat"), (Words{"sh", "-c", "LESS=R less | cat"}));
}

}  // namespace
}  // namespace knell::cli
