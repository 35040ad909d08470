#include "platform/local_zone.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

std::string zone_of(std::string variable, std::string link, std::string file) {
    return local_zone({.variable = [&](const char* /*name*/) { return variable; },
                       .link_target = [&](const std::string& /*path*/) { return link; },
                       .file = [&](const std::string& /*path*/) { return file; }});
}

TEST(LocalZone, IsWhatTheVariableNames) {
    EXPECT_EQ(zone_of("Asia/Tokyo", "/usr/share/zoneinfo/Etc/UTC", "Etc/UTC\n"), "Asia/Tokyo");
    EXPECT_EQ(zone_of(":Asia/Tokyo", "", ""), "Asia/Tokyo");
    EXPECT_EQ(zone_of("/usr/share/zoneinfo/Asia/Tokyo", "", ""), "Asia/Tokyo");
    EXPECT_EQ(zone_of("/somewhere/else", "", "Etc/UTC\n"), "");
}

TEST(LocalZone, IsElseWhatTheLinkLeadsTo) {
    EXPECT_EQ(zone_of("", "/usr/share/zoneinfo/Europe/Berlin", "Etc/UTC\n"), "Europe/Berlin");
    EXPECT_EQ(zone_of("", "../usr/share/zoneinfo/America/Argentina/Ushuaia", ""),
              "America/Argentina/Ushuaia");
}

TEST(LocalZone, IsElseWhatStandsInTheFile) {
    EXPECT_EQ(zone_of("", "", "Europe/Berlin\n"), "Europe/Berlin");
    EXPECT_EQ(zone_of("", "/opt/berlin", "Europe/Berlin # home\n"), "Europe/Berlin");
    EXPECT_EQ(zone_of("", "", "\n"), "");
    EXPECT_EQ(zone_of("", "", ""), "");
}

TEST(LocalZone, OfThisMachineIsNoPath) {
    EXPECT_FALSE(local_zone().starts_with('/'));
}

}  // namespace
}  // namespace knell
