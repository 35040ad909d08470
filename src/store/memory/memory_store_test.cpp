#include "store/memory/memory_store.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

// All else is in tests/conformance, which holds it to the contract of every store.
TEST(MemoryStore, SaysWhatItIs) {
    const auto facts = make_memory_store()->facts();
    EXPECT_EQ(facts.kind, "memory");
    EXPECT_EQ(facts.problem, "") << "it takes whatever comes";
}

}  // namespace
}  // namespace knell
