#pragma once

#include <array>

namespace knell::sqlite {

/// What each version could write, besides what those before it could.
struct Version {
    int number;
    const char* rows;
};

inline constexpr auto first_rows = R"sql(
INSERT INTO node VALUES ('node_id', 'abcdef0123456789'), ('alive_at', '1800000009000');
INSERT INTO sessions (ordinal, id, key, source, platform, user_id, parent_id, relation, model,
    title, cwd, meta, generation, owner_kind, owner_pid, owner_start_ticks, owner_pid_ns,
    owner_boot_id, owner_lease_ttl_s, owner_host, owner_since, on_owner_loss, started_at,
    last_activity_at, message_count, input_tokens, output_tokens, turn_since, fold)
VALUES
    (1, 'open', 'k', 'cli', 'p', 'u', 'ended', 'branch', 'm', 't', '/tmp', '{"a":1}', 2, 'process',
     41, 42, 43, 'boot', 60, 'h', 1800000000001, 'end', 1800000000000, 1800000000002, 2, 5, 7,
     1800000000002, 0),
    (3, 'leased', NULL, 'cron', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 'lease',
     NULL, NULL, NULL, NULL, 45, NULL, 1800000000000, 'park', 1800000000000, 1800000000000, 0, 0,
     0, NULL, 1);
INSERT INTO sessions (ordinal, id, source, generation, owner_kind, owner_pid, owner_start_ticks,
    owner_pid_ns, owner_boot_id, owner_since, on_owner_loss, started_at, last_activity_at,
    message_count, input_tokens, output_tokens, fold, ended_at, ended_after, ended_before, reason,
    detail, evidence)
VALUES (2, 'ended', 'cli', 1, 'process', 51, 52, 53, 'boot', 1800000000000, 'end', 1800000000000,
     1800000000001, 0, 0, 0, 0, 1800000000005, 1800000000004, 1800000000006, 'reaped', 'd', 'e');
INSERT INTO messages VALUES (1, 1, 1800000000001, 'user', 'hello', NULL, 5),
                            (1, 2, 1800000000002, 'assistant', '', 'tool', 7);
INSERT INTO events (seq, type, time, session_id, generation, place, source, relation, started_at,
    message_count, input_tokens, output_tokens, ended_at, ended_after, ended_before, reason, detail,
    evidence)
VALUES
    (7, 'session:start', 1800000000000, 'ended', 1, 0, 'cli', 'branch', 1800000000000, 0, 0, 0,
     NULL, NULL, NULL, NULL, NULL, NULL),
    (8, 'session:end', 1800000000006, 'ended', 1, 9223372036854775807, 'cli', NULL, 1800000000000,
     0, 0, 0, 1800000000005, 1800000000004, 1800000000006, 'reaped', 'd', 'e');
INSERT INTO events (seq, type, time, detail) VALUES (9, 'notice', 1800000000007, 'why');
)sql";

inline constexpr std::array<Version, 17> versions{{
    {1, first_rows},
    {2, R"sql(
UPDATE sessions SET park_window_s = 90, last_seen_at = 1800000000003, parked_since = 1800000000004
    WHERE id = 'leased';
UPDATE sessions SET leftovers_policy = 'report', stalled_since = 1800000000008 WHERE id = 'open';
UPDATE sessions SET leftovers = '61' || char(9) || '62' || char(9) || 'cookie' || char(9) ||
    'sleep 9' || char(10) WHERE id = 'ended';
UPDATE events SET leftovers = '61' || char(9) || '62' || char(9) || 'cookie' || char(9) ||
    'sleep 9' || char(10) WHERE seq = 8;
INSERT INTO end_counts VALUES (500000, 'reaped', 3), (500000, 'exited', 4), (500001, 'completed', 5),
    (500001, 'idle_expiry', 6);
)sql"},
    {3, R"sql(
INSERT INTO subscriptions VALUES ('hook', 8, 'paused', 1800000000000, 5, 2, 1, 1800000000002,
    1800000000003, 'refused');
INSERT INTO letters VALUES ('hook', 7, 'dead', 9, 1000, 1800000000009, 'refused', 'id-7',
    'session:start', '2027-01-15T08:00:00.000Z', 'ended', '{"seq":7}');
)sql"},
    {4, R"sql(
UPDATE sessions SET proof = 'declared' WHERE id = 'ended';
UPDATE sessions SET lease_from = 77 WHERE id = 'leased';
UPDATE sessions SET former_owners = '31' || char(9) || '32' || char(9) || '33' || char(9) || 'boot' ||
    char(10) WHERE id = 'open';
UPDATE events SET proof = 'declared' WHERE seq = 8;
INSERT INTO lives VALUES (10), (20);
INSERT INTO log_marks VALUES (8, 3600000);
INSERT INTO node VALUES ('listened_ms', '123'), ('log_age_ms', '3600001'),
    ('log_age_boot_id', 'boot'), ('log_age_boot_ms', '99');
)sql"},
    {5, R"sql(
UPDATE sessions SET leftovers = '61' || char(9) || '62' || char(9) || 'cookie' || char(9) ||
    'sleep 9' || char(9) || 'stopping' || char(9) || '63' || char(9) || 'boot' || char(10)
    WHERE id = 'ended';
)sql"},
    {6, R"sql(
UPDATE sessions SET title = 'Billing', pinned = 1 WHERE id = 'ended';
UPDATE events SET data = '+pinned Billing 2027' WHERE seq = 7;
)sql"},
    {7, R"sql(
UPDATE sessions SET owner_command = 'sleep 9' WHERE id = 'open';
UPDATE events SET title = 'Billing', cwd = '/srv', command = 'sleep 9', host = 'here', pid = 61
    WHERE seq = 8;
)sql"},
    {8, R"sql(
UPDATE sessions SET attached = 2, attach_told = 1 WHERE id = 'open';
UPDATE sessions SET detached_since = 1800000000009 WHERE id = 'leased';
)sql"},
    {9, "UPDATE sessions SET turn_count = 3 WHERE id = 'open';"},
    {10, R"sql(
INSERT INTO processes (number, id, session_id, generation, task_id, origin, pid, start_ticks, pid_ns,
    boot_id, argv, cwd, title, started_at, activity, activity_since, activity_evidence, stale_since,
    vouched_until, stop_asked_at, stop_asked_by)
VALUES (5, 'p-0000000000005', 'open', 2, 't', 'started', 71, 72, 73, 'boot',
    'sh' || char(10) || 'a\nb' || char(10), '/srv', 'server', 1800000000001, 'listening',
    1800000000002, 'e', 1800000000003, 1800000000004, 1800000000005, 'a person');
INSERT INTO processes (number, id, session_id, generation, origin, pid, start_ticks, pid_ns, boot_id,
    started_at, activity, activity_since, exit_kind, exit_number, exit_evidence, exited_at,
    exited_after, exited_before)
VALUES (6, 'p-0000000000006', 'ended', 1, 'leftover', 71, 72, 74, 'boot', 1800000000001, 'working',
    1800000000002, 'signaled', 9, 'e', 1800000000005, 1800000000004, 1800000000006);
UPDATE sessions SET background_since = 1800000000009 WHERE id = 'open';
UPDATE events SET process = '5' || char(10) || 'p-0000000000005' || char(10) || 'open' || char(10) ||
    '2' || char(10) || char(10) || 'started' || char(10) || '71' || char(10) || '72' || char(10) ||
    '73' || char(10) || 'boot' || char(10) || 'sh\na\\nb\n' || char(10) || char(10) || char(10) ||
    '1800000000001' || char(10) || 'working' || char(10) || '1800000000002' || char(10),
    data = '+' WHERE seq = 9;
)sql"},
    {11, R"sql(
UPDATE sessions SET parked_before = 1800000000006, park_why = 'exited, exit 3' WHERE id = 'leased';
)sql"},
    {12, R"sql(
UPDATE sessions SET chat_type = 'dm', last_interaction_at = 1800000000001,
    reset_held_since = 1800000000007, reset_held_by = 'p-0000000000005' || char(10) ||
    'p-0000000000007' || char(10) WHERE id = 'open';
UPDATE sessions SET suspended_at = 1800000000008, suspend_why = 'a person', summary_lost = 1
    WHERE id = 'ended';
UPDATE events SET blockers = 'p-0000000000005' || char(9) || '71' || char(9) || 'sh a\tb' || char(9) ||
    '1800000000001' || char(9) || 'waiting' || char(9) || char(9) || '1800000000004' || char(10),
    compression = 'tail' || char(9) || 'open' || char(9) || 'local' WHERE seq = 7;
)sql"},
    {13, ""},  // two indexes
    {14, "UPDATE events SET stuck = 'cycle' || char(9) || 'warning' WHERE seq = 7;"},
    {15, ""},
    {16, ""},
    {17, R"sql(
INSERT INTO source_counts VALUES (500000, 'gateway', 1, 2, 3);
)sql"},
}};

}  // namespace knell::sqlite
