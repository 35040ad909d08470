#include "core/labels.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(Labels, AreReadAsTheyWereWritten) {
    for (const auto* title : {"", "a", "pinned", "two words", " x", "- y"}) {
        for (const bool pinned : {false, true}) {
            const Labels labels{.title = title, .pinned = pinned};
            EXPECT_EQ(labels_from_text(to_text(labels)), labels) << title;
        }
    }
    EXPECT_EQ(labels_from_text(""), Labels{});
}

}  // namespace
}  // namespace knell
