// /openapi.json, judged by other people's code.

#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/receiver.hpp"

namespace knell::functional {
namespace {

class OpenApi : public WithDaemon {
  protected:
    void SetUp() override {
        if (const auto why_not = why_no_receiver()) GTEST_SKIP() << *why_not;
    }

    static Outcome validate(std::string_view document) {
        return run_command({.argv = {"node", "openapi.mjs"}, .cwd = KNELL_RECEIVERS_DIR}, document);
    }
};

TEST_F(OpenApi, IsValid) {
    const auto document = home.knell({"rpc", "rpc.openapi"});
    ASSERT_EQ(document.status, 0) << document.err;

    const auto verdict = validate(document.out);

    EXPECT_EQ(verdict.status, 0) << verdict.err;
    EXPECT_EQ(verdict.out, "valid OpenAPI 3.1\n");
}

TEST_F(OpenApi, WithoutPathsIsNot) {
    auto document = client.must("rpc.openapi");
    document.as_object()["paths"] = "none";
    EXPECT_EQ(validate(wire::to_text(document)).status, 1);
}

}  // namespace
}  // namespace knell::functional
