#!/usr/bin/env python3
"""A chat gateway: reads "KEY TEXT" a line and answers in the conversation of that key.

    printf '%s\n' 'chat:42 hello' 'chat:42 again' | examples/gateway.py

Kill it and start it again: conversations go on.  See docs/routing.md.
"""
import json, os, socket, sys

RUNTIME = os.environ.get("XDG_RUNTIME_DIR")
HOME = os.environ.get("KNELL_HOME") or (f"{RUNTIME}/knell" if RUNTIME else f"/tmp/knell-{os.getuid()}")
ADDRESS = os.environ.get("KNELL_SOCKET") or f"{HOME}/knell.sock"


def call(method, **params):
    """The result, and the error: one of them is None."""
    wire.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
    wire.flush()
    line = wire.readline()
    if not line:
        raise ConnectionError("the daemon hung up")
    answer = json.loads(line)
    return answer.get("result"), answer.get("error")


def say(key, text):
    print(f"{key} {text}", flush=True)


def deliver(key, text):
    routed, error = call("session.route", key=key, source="gateway", user_id=key)
    if error:  # "owned": another gateway that lives serves this key
        return say(key, f"! {error['message']}")
    if "auto_reset" in routed:
        say(key, f"* a new conversation ({routed['auto_reset']['reason']})")
    elif routed.get("resumed"):
        say(key, "* going on where we were")
    if "deferred" in routed:
        waits_for = ", ".join(f"{b.get('command')} (pid {b['pid']})" for b in routed["deferred"]["blockers"])
        say(key, f"* a new conversation would be due, and waits for: {waits_for}")
    here = {"session_id": routed["session_id"], "generation": routed["generation"]}
    call("turn.start", **here)
    told, error = call("session.append", **here, messages=[{"role": "user", "content": text}])
    if error:  # "ended" or "fenced": somebody was faster; the next message is routed anew
        return say(key, f"! {error['message']}")
    answer = f"message {told['message_count']} of this conversation was: {text}"
    call("session.append", **here, messages=[{"role": "assistant", "content": answer}])
    call("turn.end", **here)
    say(key, answer)


try:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(ADDRESS)
        wire = connection.makefile("rw", encoding="utf-8", newline="\n")
        for line in sys.stdin:
            key, _, text = line.strip().partition(" ")
            if text:
                deliver(key, text)
except OSError as error:
    sys.exit(f"gateway: {ADDRESS}: {error}. Start the daemon with: knell up --detach; then start me again")
