"""The promises, as functions from what was recorded and what is true to sentences on what is wrong."""

import datetime
import os

from procs import read

rounding = 2        # milliseconds: knell's times have no more
lateness = 50       # milliseconds that two clocks of one machine may differ by


def millis(text):
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return moment.timestamp() * 1000


def structure(events):
    """Numbers without holes; one start, at most one end, in that order, one generation after the other."""
    wrong = []
    if [event["seq"] for event in events] != list(range(1, len(events) + 1)):
        wrong.append("the numbers of events have holes")
    state = {}          # session: (generation, open)
    for event in events:
        session, generation = event.get("session_id"), event.get("generation")
        before = state.get(session, (0, False))
        if event["type"] == "session:start":
            if before[1] or generation != before[0] + 1:
                wrong.append(f"{session}: generation {generation} starts after {before}")
            state[session] = (generation, True)
        elif event["type"] == "session:end":
            if before != (generation, True):
                wrong.append(f"{session}: generation {generation} ends after {before}")
            state[session] = (generation, False)
    return wrong


def ends(ledger, events, timely):
    """`timely`: times can be compared, nobody set the clock."""
    started = {(e["session_id"], e["generation"]) for e in events if e["type"] == "session:start"}
    ended = {(e["session_id"], e["generation"]): e for e in events if e["type"] == "session:end"}
    startups = [millis(e["time"]) for e in events if e["type"] == "gateway:startup"]
    wrong = []
    for key, life in ledger.lives.items():
        if key not in started:
            wrong += never_began(life)
        elif key in ended:
            wrong += end(life, ended[key], startups) if timely else []
        elif life.owner.dead:
            wrong.append(f"{life}: its owner is dead and there is no session:end")
    return wrong


def never_began(life):
    if life.certain:
        return [f"{life}: session.create was acknowledged, and there is no session:start"]
    if life.kind != "run":
        return []       # nobody was told that it began
    said = read(life.run.stderr).decode(errors="replace")
    if "recorded" in said:
        return []       # "runs unrecorded", "is not recorded": it said so
    return [f"{life}: its command ran, and there is no session:start; knell run said: {said!r}"]


def end(life, event, startups):
    """One end: asked for, or a death that was one."""
    at, reason, proof = millis(event["time"]), event["reason"], event["proof"]
    story = f"{life} ended as {reason} ({proof}), {event.get('detail', '')}: {event.get('evidence', '')}"
    asked = {how: before for before, how in life.ends_asked if at >= before - lateness}
    if reason == "superseded":
        return [] if "takeover" in asked else [f"{story}: nobody took it over"]
    if "close" in asked and proof == "declared":
        return []
    if reason == "reaped":
        wrong = false_reap(life, at, story, startups)
        # A daemon that could not be reached may reap who lives: the renewals did not arrive.
        if wrong or not life.owner.dead or at < life.owner.died[0]:
            return wrong
    if not life.owner.dead:
        return [f"{story}: its owner lives"]
    before, after = life.owner.died
    wrong = []
    if at < before - rounding:
        wrong.append(f"{story}: told at {event['time']}, {before - at:.0f} ms before its owner died")
    # A renewal may arrive after its sender died; a parked session outlives its owner.
    if life.kind != "lease" and not life.park_s and (early := millis(event["ended_after"]) - after) > rounding:
        wrong.append(f"{story}: ended_after is {early:.0f} ms later than the true death")
    if (late := before - millis(event["ended_before"])) > rounding:
        wrong.append(f"{story}: ended_before is {late:.0f} ms earlier than the true death")
    words = " ".join(event.get("detail", "").split(" ")[:2])
    if life.owner.how and reason in ("exited", "signaled", "completed", "oom_killed") and words != life.owner.how:
        wrong.append(f"{story}: it really ended with {life.owner.how}")
    return wrong


def false_reap(life, at, story, startups):
    """A renewal counts when it arrives: one that is in the daemon's hands, and one that was answered."""
    if life.kind != "lease":
        # Where the daemon cannot see a command, its wrapper holds a lease for it while it lives.
        early = not life.owner.dead or at < life.owner.died[0]
        excused = life.run and life.run.wrapper_killed
        return [f"{story}: its owner lives and so does its wrapper"] if early and not excused else []
    lease = life.owner
    wrong = []
    if lease.acknowledged and at < lease.acknowledged + lease.ttl - lateness:
        wrong.append(f"{story}: its last renewal was acknowledged {at - lease.acknowledged:.0f} ms before")
    sent = [moment for moment in lease.sent if moment <= at]
    if sent and at < sent[-1] + lease.ttl - lateness and not any(sent[-1] <= start <= at for start in startups):
        wrong.append(f"{story}: a renewal was in the daemon's hands for {at - sent[-1]:.0f} ms")
    since = [start for start in startups if lease.acknowledged and lease.acknowledged < start < at]
    # Its start and the event that tells of it are one transaction.
    if len(since) == 1 and at < since[0] + lease.ttl - lateness:
        wrong.append(f"{story}: only {at - since[0]:.0f} ms after the daemon's start, and it had not renewed before")
    return wrong


def messages(ledger, rows):
    wrong = []
    for session, (acknowledged, tried) in ledger.messages.items():
        row = rows.get(session)
        if row is None:
            if acknowledged:
                wrong.append(f"{session}: {acknowledged} appends were acknowledged, and it is not there")
        elif not acknowledged <= row["message_count"] <= tried:
            wrong.append(f"{session}: holds {row['message_count']} messages; {acknowledged} were acknowledged, "
                         f"{tried} tried")
    return wrong


def asked_for(events):
    """Numbers of the events that the hooks want."""
    return {event["seq"] for event in events if event["type"].startswith("session:")}


def heard(hook, events, heard_by_it):
    """At least once each, and in order for each session."""
    wrong = []
    missed = asked_for(events) - {seq for seq, _ in heard_by_it}
    if missed:
        wrong.append(f"hook {hook} never heard {len(missed)} events, such as {sorted(missed)[:5]}")
    last, seen = {}, set()
    for seq, session in heard_by_it:
        if seq in seen:
            continue        # a repetition
        seen.add(seq)
        if seq < last.get(session, 0):
            wrong.append(f"hook {hook} heard event {seq} of {session} after {last[session]}")
        last[session] = seq
    return wrong


def store(counts, unended, health):
    wrong = [f"the store holds {count} {kind} of {session} generation {generation}"
             for session, generation, kind, count in counts if count != 1]
    wrong += [f"the store holds {row[0]} without an end" for row in unended]
    return wrong if health == "ok" else wrong + [f"the store is damaged: {health}"]


def no_socket(path):
    return [f"after knell down {path} is still there"] if os.path.lexists(path) else []
