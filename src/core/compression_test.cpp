#include "core/compression.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell {
namespace {

RC_GTEST_PROP(CompressionText, ComesBackAsItWas, ()) {
    Compression compression;
    compression.outcome = static_cast<CompressOutcome>(
        *rc::gen::inRange<std::size_t>(0, compress_outcome_names.size()));
    compression.child = SessionId(*rc::gen::arbitrary<std::string>());
    compression.provider = *rc::gen::container<std::string>(
        rc::gen::oneOf(rc::gen::element('\t', '\n', '\\', '\0', 't'), rc::gen::arbitrary<char>()));

    RC_ASSERT(compression_from_text(to_text(compression)) == compression);
}

TEST(CompressionText, OfAnotherProgramIsReadAsFarAsItGoes) {
    EXPECT_EQ(compression_from_text(""), Compression{});
    EXPECT_EQ(compression_from_text("melted\tc").child.text(), "c");
    EXPECT_EQ(compression_from_text("melted\tc").outcome, CompressOutcome::failed);
    EXPECT_EQ(compression_from_text("tail").outcome, CompressOutcome::tail);
}

}  // namespace
}  // namespace knell
