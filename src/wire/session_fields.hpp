#pragma once

#include "core/limits.hpp"
#include "wire/field_rows.hpp"
#include "wire/process_fields.hpp"

/// Rows that several methods have: parameters, and the objects of results, which
/// wire/session_json renders; rpc/fields_test.cpp holds answers against these rows.
namespace knell::wire::fields {

// --- parameters ---------------------------------------------------------------------------------

inline constexpr Field session_param{
    .name = "session_id", .type = id, .required = true, .about = "the session"};
inline constexpr Field generation_param{.name = "generation",
                                        .type = integer,
                                        .required = true,
                                        .min = 1,
                                        .max = UINT32_MAX,
                                        .about = "the fencing token that create or resume gave"};
inline constexpr Field key_param{.name = "key",
                                 .type = text,
                                 .may_be_empty = true,  // it has none
                                 .max = limits::key_bytes_max,
                                 .about = "routing key, such as agent:main:telegram:dm:42"};
inline constexpr Field source_param{.name = "source",
                                    .type = word,
                                    .required = true,
                                    .about = "cli, gateway, cron, subagent, claude-code ..."};
inline constexpr Field title_param{.name = "title",
                                   .type = text,
                                   .may_be_empty = true,
                                   .max = limits::title_bytes_max,
                                   .about = "for people"};
inline constexpr Field automatic_param{
    .name = "automatic",
    .type = boolean,
    .standard = 0,
    .about =
        "a machine's doing, such as a cron job's: it is no interaction, which idle resets "
        "count from"};

// Where an answer comes page by page.
inline constexpr Field limit_param{.name = "limit",
                                   .type = integer,
                                   .min = 1,
                                   .max = limits::list_page_max,
                                   .standard = limits::list_page_default,
                                   .about = "1 to 1000, default 50"};
constexpr Field cursor_param(std::int64_t bytes_max) {
    return {.name = "cursor",
            .type = text,
            .may_be_empty = true,  // the first page
            .max = bytes_max,
            .about = "`next` of the page before"};
}
inline constexpr Field next_cursor =
    only("there are more", "next", text, "`cursor` of the next page");
inline constexpr Field next_after =
    only("there are more", "next", integer, "`after` of the next page");

// --- objects of results -------------------------------------------------------------------------

inline constexpr std::array leftover_fields{
    always("pid", integer, "as the daemon counts"),
    always("start_ticks", integer, "when it started: field 22 of /proc/PID/stat"),
    always("found_by", text, "what proves that it is the command's"),
    always("command", text, "its command line, shortened"),
    Field{.name = "fate",
          .type = choice,
          .choices = names_of<Fate>,
          .when = "once it is decided",
          .about = "what became of it"},
    only("it is on record as a background process", "process_id", text, "under this id"),
};

inline constexpr std::array stands_for_fields{
    always("pid", integer, "in its own pid namespace"),
    always("pid_namespace", integer, "the inode of that namespace"),
};

inline constexpr std::array owner_facts{
    always_one_of<OwnerKind>("kind", "what its life hangs on"),
    only("of a process", "pid", integer, "as the daemon counts"),
    only("with a lease", "lease_ttl_s", integer, "it must be renewed within so many seconds"),
    only("hosted", "window_s", integer, "it is kept for so long when nothing holds it"),
    with_object(only("of a lease for a process that cannot be seen from here", "stands_for", object,
                     "that process"),
                "", stands_for_fields),
    only("where it is known", "host", text, "where it runs"),
    only("given", "command", text, "what runs"),
    always("since", time, "when it became the owner"),
};

inline constexpr std::array end_fields{
    only("ended", "ended_at", time, "when it ended"),
    only("ended", "ended_after", time, "the last time it was surely there"),
    only("ended", "ended_before", time, "the first time it was surely gone"),
    only("ended", "reason", word, "why it ended"),
    Field{.name = "proof",
          .type = choice,
          .choices = names_of<Proof>,
          .when = "ended",
          .about = "how that is known"},
    only("there is more to say", "detail", text, "in words"),
    only("ended", "evidence", text, "what was seen, or who said so"),
    with_object(Field{.name = "leftovers",
                      .type = array,
                      .when = "ended, and its command left some",
                      .about = "processes that it left running"},
                "leftover", leftover_fields),
};

inline constexpr std::array suspended_fields{
    always("since", time, "since when"),
    only("given", "why", text, "in words"),
};

inline constexpr std::array session_fields = joined(
    joined(
        std::array{
            always("id", id, "its name"),
            only("given", "key", text, "routing key"),
            always("source", word, "where it comes from"),
            only("given", "platform", word, "where its user writes"),
            only("given", "user_id", text, "whose conversation it is"),
            only("given", "chat_type", word, "what kind of conversation: dm, group ..."),
            only("it has one", "parent_id", id, "the session it came out of"),
            Field{.name = "relation",
                  .type = choice,
                  .choices = names_of<Relation>,
                  .when = "it has a parent",
                  .about = "how it came out of it"},
            always("generation", integer, "its fencing token: rises with each owner"),
            always_one_of<Status>("status", "derived from all the rest"),
            only("given", "model", text, "the model that answers"),
            only("given", "title", text, "for people"),
            only("given", "cwd", text, "working directory"),
            always("started_at", time, "when this generation was opened"),
            always("last_activity_at", time, "its last message or turn"),
            always("last_interaction_at", time, "the last of them that was not a machine's doing"),
        },
        end_fields),
    std::array{
        always("message_count", integer, "messages on record"),
        always("input_tokens", integer, "tokens of all messages that are not the assistant's"),
        always("output_tokens", integer, "tokens of the assistant's messages"),
        with_object(always("owner", object, "what keeps it alive"), "owner", owner_facts),
        always_one_of<OnOwnerLoss>("on_owner_loss", "what happens when its owner is gone"),
        only("it parks", "park_s", integer, "for how many seconds it waits for the next owner"),
        only("open", "last_seen_at", time, "the last sign of life of its owner"),
        only("unknown", "unknown_since", time, "since when its owner cannot be checked"),
        only("stalled", "stalled_since", time, "since when its lease is not renewed"),
        only("parked", "parked_since", time, "since when it has no owner"),
        only("parked", "parked_before", time, "by when that owner was gone"),
        only("parked", "park_why", text, "how that owner went"),
        always("attached", integer, "clients that look at it"),
        only("hosted, and no client looks at it", "detached_since", time, "since when"),
        always("turn", boolean, "whether the agent works on a prompt"),
        only("a turn is on", "turn_since", time, "since when"),
        only("a background process of its counts as work", "background_since", time, "since when"),
        always("pinned", boolean, "whether a person wants it kept"),
        only("a newer session took its key", "key_taken", boolean,
             "true: messages for the key do not come here"),
        with_object(only("the next message begins a new conversation", "suspended", object,
                         "since when, and why"),
                    "", suspended_fields),
        only("its reset is due and background work holds it back", "reset_held_since", time,
             "since when"),
        only("it came out of a compression without a summary", "summary_lost", boolean, "true"),
        only("given", "meta", object, "what the client keeps with it"),
    });

inline constexpr std::array message_facts{
    always("role", word, "who wrote it"),
    always("content", content, "what"),
    only("a tool wrote it", "tool_name", text, "which"),
    only("known", "tokens", integer, "how many tokens it is"),
};

inline constexpr std::array event_fields = joined(
    joined(
        std::array{
            always("seq", integer, "its place in the log: rises by one, without holes"),
            always("id", text, "the same each time it is told"),
            Field{.name = "type",
                  .type = choice,
                  .required = true,
                  .choices = names_of<EventType>,
                  .about = "what happened"},
            always("time", time, "when"),
            only("about a session", "session_id", id, "which"),
            only("it has one", "session_key", text, "the session's routing key"),
            only("about a session", "generation", integer, "of the session"),
            only("it has one", "platform", word, "of the session"),
            only("it has one", "user_id", text, "of the session"),
            only("about a session", "source", word, "of the session"),
            only("it has one", "parent_id", id, "of the session"),
            Field{.name = "relation",
                  .type = choice,
                  .choices = names_of<Relation>,
                  .when = "it has a parent",
                  .about = "of the session"},
            only("it has one", "title", text, "of the session, at that time"),
            only("it has one", "cwd", text, "of the session"),
            only("given", "command", text, "what runs, as whoever opened the session said"),
            only("its owner is a process", "pid", integer, "of the owner"),
            only("it is known", "host", text, "where the owner runs"),
            only("about a session", "started_at", time, "when its generation was opened"),
            with_object(
                only("about a background process", "process", object, "the process, at that time"),
                "process", process_fields),
            only("a session:update", "pinned", boolean, "whether it is kept, now"),
            with_object(only("a session:reset_deferred", "blockers", array,
                             "background work that holds its reset back"),
                        "blocker", blocker_fields),
            with_object(only("a notice of a reset", "processes", array,
                             "background work of the session that runs on"),
                        "blocker", blocker_fields),
            Field{.name = "outcome",
                  .type = choice,
                  .choices = names_of<CompressOutcome>,
                  .when = "a session:compress",
                  .about = "how the compression went"},
            only("a session:compress, and it did not fail", "child_id", id,
                 "the session that goes on"),
            only("a session:compress, and there was one", "provider", text, "who made the summary"),
            Field{.name = "level",
                  .type = choice,
                  .choices = names_of<NudgeLevel>,
                  .when = "an agent:stuck",
                  .about = "how urgent it is"},
            Field{.name = "kind",
                  .type = choice,
                  .choices = names_of<NudgeKind>,
                  .when = "an agent:stuck",
                  .about = "in what way its agent is stuck"},
            only("an agent:stuck", "streak", integer, "after how many calls"),
            only("an agent:stuck", "tool", text, "the tool of the last call"),
            only("an agent:stuck of a cycle", "other_tool", text, "the tool of the one before"),
            only("an agent:stuck, and one failed", "error", text, "the last error, cut"),
        },
        end_fields),
    std::array{
        only("ended", "message_count", integer, "messages on record"),
        only("ended", "input_tokens", integer, "tokens that came in"),
        only("ended", "output_tokens", integer, "tokens that went out"),
    });

/// What the docs and `rpc.describe` describe once.
struct SharedObject {
    std::string_view name;
    std::span<const Field> fields;
};
inline constexpr std::array shared_objects{
    SharedObject{"session", session_fields},   SharedObject{"owner", owner_facts},
    SharedObject{"leftover", leftover_fields}, SharedObject{"message", message_facts},
    SharedObject{"event", event_fields},       SharedObject{"process", process_fields},
    SharedObject{"blocker", blocker_fields},
};

}  // namespace knell::wire::fields
