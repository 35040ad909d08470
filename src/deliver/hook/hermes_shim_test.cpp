#include "deliver/hook/hermes_shim.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/hook_trial.hpp"

namespace knell {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Kind = Outcome::Kind;

/// Handlers as people write them for Hermes, each run through python3.
class HermesShimTest : public ::testing::Test, public testing::HookTrial {};

TEST_F(HermesShimTest, CallsAFunction) {
    const auto outcome = run(python_handler(R"py(
def handle(event_type, context):
    print(event_type, context["platform"], context["session_key"], context["message_count"])
    return {"decision": "deny"}
)py"));
    EXPECT_EQ(outcome.kind, Kind::delivered) << outcome.what;
    EXPECT_EQ(outcome.output, "session:end telegram agent:main 12\n");
}

TEST_F(HermesShimTest, AwaitsACoroutine) {
    const auto outcome = run(python_handler(R"py(
import asyncio

async def handle(event_type: str, context: dict) -> None:
    await asyncio.sleep(0)
    print("awaited", context["reason"])
)py"));
    EXPECT_EQ(outcome.kind, Kind::delivered) << outcome.what;
    EXPECT_EQ(outcome.output, "awaited completed\n");
}

TEST_F(HermesShimTest, AwaitsWhatAFunctionReturnsOrLeavesToTheLoop) {
    const auto outcome = run(python_handler(R"py(
import asyncio

async def note(word):
    await asyncio.sleep(0)
    print(word)

def handle(event_type, context):
    asyncio.get_running_loop().create_task(note("task"))
    return note("returned")
)py"));
    EXPECT_EQ(outcome.kind, Kind::delivered) << outcome.what;
    EXPECT_THAT(outcome.output, HasSubstr("task\n"));
    EXPECT_THAT(outcome.output, HasSubstr("returned\n"));
}

TEST_F(HermesShimTest, HermesKeysAreAlwaysThere) {
    auto startup = rendered();
    startup.type = "gateway:startup";
    startup.json = R"({"seq":1,"id":"node-1","type":"gateway:startup"})";
    const auto outcome = run(python_handler(R"py(
def handle(event_type, context):
    keys = ("platform", "user_id", "session_key", "session_id", "reason")
    print(event_type, [context[key] for key in keys], context["seq"])
)py"),
                             startup);
    EXPECT_EQ(outcome.output, "gateway:startup ['', '', '', '', ''] 1\n");
}

TEST_F(HermesShimTest, ModulesBesideTheHandlerAndStateInItWork) {
    write("counting.py",
          "def next_of(counts, key):\n"
          "    counts[key] = counts.get(key, 0) + 1\n"
          "    return counts[key]\n");
    const auto outcome = run(python_handler(R"py(
from __future__ import annotations
import logging
from dataclasses import dataclass
from pathlib import Path

import counting

logger = logging.getLogger("hooks.counter")
HERE = Path(__file__).parent
_counts: dict[str, int] = {}

@dataclass
class Note:
    text: str

async def handle(event_type, context):
    note = Note(f"{event_type} {counting.next_of(_counts, context.get('session_id'))}")
    (HERE / "notes.txt").write_text(note.text)
    logger.info("noted %s", (HERE / "notes.txt").read_text())
)py"));
    EXPECT_EQ(outcome.kind, Kind::delivered) << outcome.what;
    EXPECT_EQ(outcome.output, "INFO hooks.counter: noted session:end 1\n");
}

TEST_F(HermesShimTest, AnExceptionFailsWithItsOwnTraceback) {
    const auto outcome = run(python_handler(R"py(
async def handle(event_type, context):
    raise ValueError("no chat for " + context["session_id"])
)py"));
    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_EQ(outcome.what, "exit 1: ValueError: no chat for s1");
    EXPECT_THAT(outcome.output, StartsWith("Traceback (most recent call last):\n  File \"" +
                                           path("handler.py") + "\", line 3, in handle\n"));
    EXPECT_THAT(outcome.output, Not(HasSubstr("<string>")));
}

TEST_F(HermesShimTest, AHandlerThatCannotBeLoadedSaysSo) {
    EXPECT_EQ(run(python_handler("import no_such_module\n")).what,
              "exit 1: ModuleNotFoundError: No module named 'no_such_module'");
    EXPECT_THAT(run(python_handler("def handle(:\n")).what, StartsWith("exit 1: SyntaxError"));
    EXPECT_THAT(run(python_handler("handle = 7\n")).what,
                EndsWith("handler.py has no function handle(event_type, context)"));
}

TEST_F(HermesShimTest, MayExitByItself) {
    EXPECT_EQ(run(python_handler("import sys\ndef handle(e, c): sys.exit(0)\n")).kind,
              Kind::delivered);
    EXPECT_EQ(run(python_handler("import sys\nasync def handle(e, c): sys.exit('not now')\n")).what,
              "exit 1: not now");
}

}  // namespace
}  // namespace knell
