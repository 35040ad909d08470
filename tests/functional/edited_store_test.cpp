// Rows of knell.db changed by another program under a running daemon: the call that meets one fails
// and says so, the daemon lives, and all other sessions go on.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"
#include "testing/store_edit.hpp"

namespace knell::functional {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class EditedStore : public WithDaemon {
  protected:
    EditedStore() {
        create(R"({"id":"edited","source":"cli"})");
        create(R"({"id":"other","source":"cli"})");
    }
    void edit(const std::string& sql) { ::knell::testing::edit_store(home.file("knell.db"), sql); }
    Answer append(std::string_view id, int generation) {
        return client.call("session.append", fmt::format(R"({{"session_id":"{}","generation":{},
            "messages":[{{"role":"user","content":"x"}}]}})",
                                                         id, generation));
    }
    void expect_refused(const Answer& answer, std::string_view found) {
        EXPECT_EQ(answer.kind(), "storage");
        EXPECT_THAT(answer.message(),
                    AllOf(HasSubstr("session edited was changed by another program"),
                          HasSubstr("expected generation 1, open"), HasSubstr(std::string(found))));
    }
    void expect_others_go_on() {
        EXPECT_TRUE(append("other", 1).ok());
        create(R"({"id":"new","source":"cli"})");
        client.must("session.close", R"({"session_id":"other"})");
        EXPECT_EQ(text(show("other"), "reason"), "completed");
    }
};

TEST_F(EditedStore, ATextThatIsNotUtf8IsToldWithAMarkAndLoggedOnce) {
    edit("UPDATE sessions SET title = CAST(x'61ff62' AS TEXT) WHERE id = 'edited'");

    EXPECT_EQ(text(show("edited"), "title"), "a\uFFFDb");
    EXPECT_EQ(text(show("edited"), "title"), "a\uFFFDb");
    daemon.wait_for_log("the store holds text that is not UTF-8");
    expect_others_go_on();
}

TEST_F(EditedStore, ARaisedGeneration) {
    edit("UPDATE sessions SET generation = 2 WHERE id = 'edited'");

    expect_refused(append("edited", 1), "found generation 2, open");

    expect_others_go_on();
    EXPECT_EQ(append("edited", 1).kind(), "fenced");
    EXPECT_TRUE(append("edited", 2).ok());
    client.must("session.close", R"({"session_id":"edited","generation":2})");
    EXPECT_EQ(text(show("edited"), "reason"), "completed");
    daemon.wait_for_log("another program wrote to the store: session edited");
}

TEST_F(EditedStore, ALoweredGenerationIsSetAside) {
    client.must("session.resume", R"({"session_id":"other","takeover":true})");
    edit("UPDATE sessions SET generation = 1 WHERE id = 'other'");

    EXPECT_EQ(append("other", 2).kind(), "storage");
    EXPECT_EQ(append("other", 2).kind(), "storage");
    EXPECT_THAT(append("other", 2).message(), HasSubstr("Restart the daemon"));
    EXPECT_TRUE(append("edited", 1).ok());
}

TEST_F(EditedStore, AnEndedRow) {
    edit(
        "UPDATE sessions SET ended_at = 5, ended_after = 5, ended_before = 5, "
        "reason = 'completed' WHERE id = 'edited'");

    expect_refused(append("edited", 1), "found generation 1, ended");

    expect_others_go_on();
    EXPECT_EQ(append("edited", 1).kind(), "ended");
}

TEST_F(EditedStore, ADeletedRow) {
    edit("DELETE FROM sessions WHERE id = 'edited'");

    expect_refused(append("edited", 1), "found no such row");

    expect_others_go_on();
    EXPECT_EQ(append("edited", 1).kind(), "not_found");
}

TEST_F(EditedStore, ATamperedLogTakesNothingUntilARestart) {
    edit("INSERT INTO events (seq, type, time) SELECT max(seq) + 1, 'notice', 0 FROM events");

    const auto refused = client.call("session.create", R"({"id":"new","source":"cli"})");

    EXPECT_EQ(refused.kind(), "storage");
    EXPECT_THAT(refused.message(),
                AllOf(HasSubstr("the log was changed"), HasSubstr("knell down")));
    EXPECT_FALSE(array(client.must("node.status"), "degraded").empty());
    EXPECT_TRUE(append("other", 1).ok()) << "it needs no event";
    EXPECT_FALSE(array(client.must("node.status"), "degraded").empty()) << "it was forgotten";
}

TEST_F(EditedStore, ARowThatWasChangedIsNotWrittenOn) {
    for (const auto* sql : {"UPDATE sessions SET generation = 7 WHERE id = 'edited'",
                            "UPDATE sessions SET generation = 1, ended_at = 5, ended_after = 5, "
                            "ended_before = 5, reason = 'completed' WHERE id = 'edited'"}) {
        edit(sql);
        const auto refused = client.call("session.pin", R"({"session_id":"edited"})");
        EXPECT_EQ(refused.kind(), "storage") << sql;
        EXPECT_THAT(refused.message(), HasSubstr("another program changed its row"));
    }
}

TEST_F(EditedStore, AWordThatNobodyWroteIsNamedAndTheDaemonLives) {
    client.must("session.close", R"({"session_id":"edited"})");
    edit("UPDATE sessions SET proof = 'hearsay' WHERE id = 'edited'");
    edit("UPDATE events SET reason = 'boredom' WHERE type = 'session:end'");

    const auto shown = client.call("session.show", R"({"session_id":"edited"})");
    const auto read = client.call("events.read", R"({"after":0})");

    EXPECT_EQ(shown.kind(), "storage");
    EXPECT_THAT(shown.message(), HasSubstr("session edited: column proof holds \"hearsay\""));
    EXPECT_EQ(read.kind(), "storage");
    EXPECT_THAT(read.message(), HasSubstr("column reason holds \"boredom\""));
    EXPECT_TRUE(append("other", 1).ok());
}

TEST_F(EditedStore, AStoreWithAnOwnerOfAnUnknownKindIsNotStartedOn) {
    daemon.terminate();
    edit("UPDATE sessions SET owner_kind = 'alien' WHERE id = 'edited'");

    const auto refused = home.knell({"up"});

    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("session edited: column owner_kind holds \"alien\""));
}

}  // namespace
}  // namespace knell::functional
