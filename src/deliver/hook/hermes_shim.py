"""Calls a handler.py that was written for Hermes: handle(event_type, context), sync or async.

    python3 -c "$(cat hermes_shim.py)" /path/to/handler.py < event.json

Hermes runs handlers inside its gateway; here each event is a process of its own, so a handler that
hangs or dies takes nothing with it.  Exit status 0 says that the event was handled.
"""

import asyncio
import importlib.util
import inspect
import json
import logging
import os
import sys
import traceback

# What Hermes' handlers index without asking; the same for every event.
ALWAYS_THERE = ("platform", "user_id", "session_key", "session_id", "reason")


def context_of(event):
    return {**dict.fromkeys(ALWAYS_THERE, ""), **event}


def load(path):
    directory = os.path.dirname(path)
    sys.path.insert(0, directory)  # for modules that lie beside the handler
    name = "hermes_hook_" + os.path.basename(directory)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look themselves up there
    spec.loader.exec_module(module)
    return module


async def call(handle, event):
    # Inside a running loop even when `handle` is no coroutine, as in Hermes: it may start tasks.
    result = handle(event["type"], context_of(event))
    if inspect.isawaitable(result):
        await result
    # Hermes' loop outlives the call.  Ours must not end before the tasks that were left to it.
    while left := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.gather(*left)


def main(path):
    sys.argv = [path]
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    event = json.load(sys.stdin.buffer)
    handle = getattr(load(path), "handle", None)
    if not callable(handle):
        sys.exit(f"{path} has no function handle(event_type, context)")
    asyncio.run(call(handle, event))


def handlers_part(trace, path):
    """Without the frames that led there: they are ours, and say nothing to who wrote the handler."""
    part = trace
    while part and part.tb_frame.f_code.co_filename != path:
        part = part.tb_next
    return part or trace


handler = os.path.abspath(sys.argv[1])
try:
    main(handler)
except Exception as error:
    traceback.print_exception(type(error), error, handlers_part(error.__traceback__, handler))
    sys.exit(1)
