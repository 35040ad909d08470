#include "chapters.hpp"

namespace knell::bench {

ChapterWords words_of(Chapter chapter) {
    switch (chapter) {
        case Chapter::gone:
            return {"From an owner gone to its end heard",
                    R"(The owner is gone: when is its end durable, and has a subscriber heard it?

- **knell, pidfd**: the owner is a process and is killed with SIGKILL; the clock starts before `kill`. One and 1,000 ends
  are as many processes, 10,000 are one gateway that owns them all. Heard through `events.subscribe`.
- **knell, lease**, **etcd**, **Redis**: a lease of 5 s, the shortest that knell grants, is granted and never renewed;
  the clock starts when the grant is acknowledged, so 5 s of each figure are the lease. etcd is a single node, a lease
  and a key for each session, heard by a watch; Redis sets keys with `PX`, `appendfsync always`, heard by keyspace
  notifications. etcd takes seconds to grant 10,000, so its owners go over seconds, which is in its favour: it ends at most
  1,000 a second. *etcd, one lease* is one lease with all the keys: a gateway's sessions, which then can only end
  together.
- **reaper**: a column of heartbeats in SQLite and a sweep, as proposed for agents: 90 s without a heartbeat, looked for
  every 60 s. The clock starts with the last heartbeat. The sweep is run and timed; the waiting is added from the two
  intervals, with heartbeats spread evenly over the minute, because nobody wants to wait for it. Heard when committed.
- The others are live sessions of an hour. Ends not heard when patience ran out count with that time, marked `>`.

More than half of at least 20 leases falling due within a second look like a fault of the network or of knell itself: they
are marked `unknown` and get one more TTL. That is why 1,000 and 10,000 leases among nothing else take knell twice the
time, longer than etcd; it is meant to be so.)"};
        case Chapter::leases:
            return {"Heartbeats and leases",
                    "Renewals are kept in memory by knell and by etcd. Redis writes each to its "
                    "append-only file, the reaper's\nheartbeat is a transaction. What reached the "
                    "disk is `write_bytes` of `/proc/PID/io`, taken from before the\nfirst beat "
                    "until the process was idle again."};
        case Chapter::sessions:
            return {"Starts and ends",
                    "A create writes seven or eight pages, so its sync costs more than that of the "
                    "one page it is compared with;\nthe rest is sockets, thread hops and SQLite. "
                    "On a disk that syncs slowly the ratio nears one."};
        case Chapter::processes:
            return {
                "Background processes",
                R"(*Starts*: the program is `dd`, which writes a byte to a pipe: it runs when that is there. knell has made its record durable
before the program is executed, `posix_spawn` records nothing. *Exits* are heard through `events.subscribe`; *dead* is when a pidfd of the
process is readable, which is the kernel's part.

*Sampling*: trees of two processes, the first with a socket that listens. The sampler is run on a clock of its own, as fast as
it goes: a figure is the CPU time of its steps over the time that they stand for. *Busy* is the first minute, in which
everything is looked at as often as what works: every 2 s, and less often where that is more than 300 processes
a second. *Idle* are five minutes after eleven. On that clock the caches are warm at each step, which is in our favour; the *real daemon*
takes its steps a tenth of a second apart, and all that it does is counted.)"};
        case Chapter::size:
            return {"Memory, restart, idling",
                    "Sessions are created over RPC with the fields that people's sessions have."};
        case Chapter::growth:
            return {"Growth",
                    "One store, filled step by step; at each size the daemon is started afresh. "
                    "The exponent is the k of cost ~ n^k,\nthe larger of that over all sizes and "
                    "that of the last step alone. Constant is below 0.25 (ten times the\nsessions, "
                    "less than 1.8 times the cost), below linear to 0.8, linear to 1.15, worse "
                    "above."};
        case Chapter::events:
            return {"Live feeds", "Followers on `events.subscribe`."};
        case Chapter::listing:
            return {"Listing", "One connection, one `session.list` or `session.search` at a time."};
        case Chapter::web:
            return {"HTTP and WebSocket",
                    "Clients of this process on loopback, beside those of mosquitto where it has "
                    "the like: MQTT 3.1.1, no persistence,\nat most once. A client of knell is "
                    "known by its token, may call everything, and is asked whether it is there "
                    "by\npings; one of mosquitto has a last will, and says so itself within its "
                    "keep-alive. Memory is the growth of VmRSS; what\nthe kernel keeps for the "
                    "sockets is in neither."};
        case Chapter::limits:
            return {"Physical limits", "What the machine itself needs, taken in the same run."};
    }
    return {};
}

}  // namespace knell::bench
