#!/usr/bin/env python3
"""Checks what the compiler does not: who may include whom, where each library may be used, and
that time comes from one place.  The tables below are the rules; ARCHITECTURE.md explains them.

    tools/check_layers.py               check this tree
    tools/check_layers.py --self-test   check that each rule finds what it is for
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

# ---- the rules ------------------------------------------------------------------------------

# Folder of src/ -> what it may include besides itself: folders, or single headers.
# "store" is the interface: the headers directly in src/store.
LAYERS = {
    "base": [],
    "core": ["base"],
    "reset": ["core", "base"],
    "store": ["core", "base"],
    "store/memory": ["store", "core", "base"],
    "store/sqlite": ["store", "core", "base"],
    "engine": ["reset", "store", "core", "base"],
    "journal": ["engine", "store", "core", "base"],
    "platform": ["core", "base"],
    "watch": ["platform", "core", "base"],
    "background": ["watch", "platform", "core", "base"],
    "activity": ["watch", "platform", "core", "base"],
    "wire": ["store", "core", "base"],
    "rpc": ["wire", "engine", "reset", "store", "watch", "core", "base"],
    "net": ["wire", "rpc", "platform", "core", "base"],
    "net/http": ["net", "wire", "rpc", "platform", "core", "base"],
    "config": ["reset", "wire", "platform", "core", "base"],
    "foreign": ["config/yaml.hpp", "config/file_problem.hpp", "config/key_table.hpp",
                "config/binding.hpp", "core", "base"],
    "foreign/hermes": ["foreign", "config/yaml.hpp", "config/file_problem.hpp",
                       "config/nearest_word.hpp", "wire/json.hpp", "platform", "core", "base"],
    "deliver": ["wire", "platform", "store", "core", "base"],
    "deliver/hook": ["deliver", "config", "foreign", "wire", "platform", "store", "core", "base"],
    "deliver/webhook": ["deliver", "config", "wire", "platform", "store", "core", "base"],
    "space": ["deliver/webhook", "config", "wire", "platform", "core", "base"],
    "summarize": ["platform", "core", "base"],
    "writer": ["journal", "engine", "store", "watch", "config", "wire", "platform", "core", "base"],
    "client": ["wire", "platform", "core", "base"],
    "mcp": ["client", "wire", "core", "base"],
    "cli": ["mcp", "client", "config", "wire", "platform", "core", "base", "daemon/daemon.hpp",
            "daemon/examine_store.hpp",
            "foreign/hermes", "foreign/hook_keys.hpp"],
}
LAYERS["daemon"] = [layer for layer in LAYERS if layer not in ("cli", "mcp")]
LAYERS["testing"] = [layer for layer in LAYERS if layer not in ("cli", "net", "net/http")]

# Unit tests, src/**/*_test.cpp and bench/**/*_test.cpp, may include this too.
UNIT_TESTS_MAY_ALSO = ["testing"]

# Third-party header -> the only folders that may include it.
LIBRARIES = [
    (r"sqlite3\.h|sqlite3ext\.h|SQLiteCpp/", ["store/sqlite", "foreign/hermes", "testing", "bench"]),
    (r"boost/json", ["wire"]),
    (r"boost/asio", ["net", "net/http", "fuzz"]),
    (r"boost/beast", ["net/http", "fuzz"]),
    (r"zlib\.h", ["net/http"]),
    (r"CLI/", ["cli"]),
    (r"spdlog/", ["platform", "daemon"]),
    (r"yaml-cpp/", ["config", "foreign"]),
    (r"date/", ["reset"]),
    (r"curl/", ["deliver/webhook", "space"]),
    (r"openssl/", ["deliver/webhook"]),
    (r"gtest/|gmock/|rapidcheck", ["testing", "unit tests", "tests"]),
    (r"benchmark/", ["bench"]),
]

# Code -> why not, and the folders where it is allowed.
BANS = [
    (r"\b(?:system|steady|high_resolution)_clock::now\b|\bclock_gettime\b|\bgettimeofday\b"
     r"|\btime\s*\(\s*(?:nullptr|NULL|0)\s*\)",
     "reads the real clock: take the time as a parameter", ["platform", "bench"]),
    (r"\bsleep_(?:for|until)\b|\b(?:u|nano)?sleep\s*\(|\bclock_nanosleep\b",
     "sleeps: wait for the event itself", ["platform"]),
]

# Code of src/ -> why not, and the only files that may hold it.
ONE_PLACE = [
    (r"\bEnded\{", "ends a session: name the way in core/end_path.hpp and call end_session",
     ["src/engine/end_events.cpp"]),
    (r"\bexec[vl]\w*\s*\(|\bSYS_execve\w*\b|\bvfork\s*\(|\bposix_spawnp?\s*\(",
     "executes a program: say what it shall be in a ChildSpec (platform/child_plan.hpp)",
     ["src/platform/child_plan.cpp", "src/platform/spawn.cpp", "src/testing/marked_process.cpp"]),
]

# Code -> why not, and the folders of src/ where it is banned; unit tests may.
NOT_IN = [
    (r"\bJson(?:Object|Array)?\b|\bto_json\b",
     "is contract JSON: give a value and render it in rpc/methods", ["daemon", "writer"]),
]
# Header -> the same.
HEADERS_NOT_IN = [
    (r"wire/(?:json|session_json|config_json)\.hpp", ["daemon", "writer"]),
]

LINES_MAX = 500
VAGUE_NAME = r"\b(?:class|struct)\s+(\w*(?:Manager|Helper|Util|Data|Info))\b"

# ---- the check ------------------------------------------------------------------------------

ROOTS = ["src", "tests", "bench", "fuzz"]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S)


def blank(text):
    """Comments and literals out, line numbers kept."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def layer_of(path):
    """store/sqlite/rows.hpp -> store/sqlite; "" when no folder of LAYERS holds it."""
    parts = path.split("/")[:-1]
    for size in (2, 1):
        layer = "/".join(parts[:size])
        if len(parts) >= size and layer in LAYERS:
            return layer
    return ""


def check_file(path, text):
    """Yields (line, what, rule).  `path` is from the top of the tree."""
    root, _, inner = path.partition("/")
    in_src = root == "src"
    unit_test = root in ("src", "bench") and path.endswith("_test.cpp")
    layer = layer_of(inner) if in_src else root
    code = blank(text)

    def line(position):
        return text.count("\n", 0, position) + 1

    if in_src and not layer:
        yield 1, "is in a folder that has no row in LAYERS", "layers"

    for match in INCLUDE.finditer(text):
        # A directive inside a comment or a literal is none.
        if code[match.start():match.end()].lstrip()[:1] != "#":
            continue
        quoted, angled = match[1], match[2]
        if quoted and in_src and layer:
            target = layer_of(quoted)
            may = [layer, *LAYERS[layer], *(UNIT_TESTS_MAY_ALSO if unit_test else [])]
            if not target:
                yield line(match.start()), f'"{quoted}" is not written from src/', "layers"
            elif target not in may and quoted not in may:
                yield (line(match.start()), f"{layer} may not include {quoted}, only "
                       + (", ".join(sorted(may))), "layers")
        for pattern, folders in HEADERS_NOT_IN:
            if in_src and layer in folders and not unit_test and re.match(pattern, quoted or ""):
                yield line(match.start()), f"{quoted} is not for {layer}", "json"
        for pattern, folders in LIBRARIES:
            here = layer in folders or (unit_test and "unit tests" in folders)
            if re.match(pattern, quoted or angled) and not here:
                yield (line(match.start()), f"{quoted or angled} is only for "
                       + ", ".join(folders), "libraries")

    for pattern, why, folders in BANS:
        if layer not in folders:
            for match in re.finditer(pattern, code):
                yield line(match.start()), f"{match[0]} {why}", "time"

    if in_src and not unit_test:
        for pattern, why, folders in NOT_IN:
            if layer in folders:
                for match in re.finditer(pattern, code):
                    yield line(match.start()), f"{match[0]} {why}", "json"

    for pattern, why, files in ONE_PLACE:
        if in_src and not unit_test and path not in files:
            for match in re.finditer(pattern, code):
                yield line(match.start()), f"{match[0]} {why}", "one place"

    if in_src:
        lines = text.count("\n")
        if lines > LINES_MAX:
            yield lines, f"{lines} lines, at most {LINES_MAX}: split it", "size"
        for match in re.finditer(VAGUE_NAME, code):
            yield line(match.start()), f"{match[1]} says nothing: name what it is", "names"


def check_tree(top):
    """All findings as (path, line, what, rule), and how many files were read."""
    found, count = [], 0
    for root in ROOTS:
        for file in sorted((top / root).rglob("*")):
            if file.suffix not in (".cpp", ".hpp", ".h") or not file.is_file():
                continue
            count += 1
            path = file.relative_to(top).as_posix()
            text = file.read_text(encoding="utf-8", errors="replace")
            found += [(path, *finding) for finding in check_file(path, text)]
    return found, count


# ---- its own test ---------------------------------------------------------------------------

BAD = [  # path, text, line and rule of the one finding
    ("src/core/a.cpp", '#include "base/time.hpp"\n#include "engine/engine.hpp"\n', 2, "layers"),
    ("src/engine/a.cpp", '#include "store/sqlite/store.hpp"\n', 1, "layers"),
    ("src/engine/a_test.cpp", '#include "net/listener.hpp"\n', 1, "layers"),
    ("src/core/b.cpp", '#include "testing/clock.hpp"\n', 1, "layers"),
    ("src/cli/a.cpp", '#include "daemon/wiring.hpp"\n', 1, "layers"),
    ("src/cli/b.cpp", '#include "engine/engine.hpp"\n', 1, "layers"),
    ("src/testing/a.cpp", '#include "net/listener.hpp"\n', 1, "layers"),
    ("src/daemon/a.cpp", '#include "cli/table.hpp"\n', 1, "layers"),
    ("src/core/c.cpp", '#include "sibling.hpp"\n', 1, "layers"),
    ("src/odd/a.cpp", "\n", 1, "layers"),
    ("src/engine/b.cpp", "\n#include <sqlite3.h>\n", 2, "libraries"),
    ("src/journal/a.cpp", "#include <SQLiteCpp/Database.h>\n", 1, "libraries"),
    ("tests/functional/a.cpp", "#include <SQLiteCpp/Database.h>\n", 1, "libraries"),
    ("src/rpc/a.cpp", "#include <boost/json.hpp>\n", 1, "libraries"),
    ("src/daemon/b.cpp", "#include <boost/asio/io_context.hpp>\n", 1, "libraries"),
    ("src/client/a.cpp", "#include <boost/beast.hpp>\n", 1, "libraries"),
    ("src/net/c.cpp", "#include <boost/beast/http.hpp>\n", 1, "libraries"),
    ("src/net/d.cpp", '#include "net/http/routes.hpp"\n', 1, "layers"),
    ("src/net/http/a.cpp", '#include "config/config.hpp"\n', 1, "layers"),
    ("src/net/e.cpp", "#include <zlib.h>\n", 1, "libraries"),
    ("src/daemon/c.cpp", "#include <CLI/CLI.hpp>\n", 1, "libraries"),
    ("src/engine/c.cpp", "#include <spdlog/spdlog.h>\n", 1, "libraries"),
    ("src/core/d.cpp", "#include <yaml-cpp/yaml.h>\n", 1, "libraries"),
    ("src/config/b.cpp", "#include <date/tz.h>\n", 1, "libraries"),
    ("src/reset/a.cpp", '#include "config/config.hpp"\n', 1, "layers"),
    ("src/net/b.cpp", "#include <curl/curl.h>\n", 1, "libraries"),
    ("src/space/a.cpp", "#include <openssl/hmac.h>\n", 1, "libraries"),
    ("src/rpc/b.cpp", '#include "space/gateway_board.hpp"\n', 1, "layers"),
    ("src/summarize/a.cpp", '#include "deliver/hook/launch.hpp"\n', 1, "layers"),
    ("src/foreign/a.cpp", '#include "deliver/rendered_event.hpp"\n', 1, "layers"),
    ("src/foreign/b.cpp", '#include "config/config.hpp"\n', 1, "layers"),
    ("src/config/a.cpp", '#include "deliver/hook/spec.hpp"\n', 1, "layers"),
    ("src/core/e.cpp", "#include <gtest/gtest.h>\n", 1, "libraries"),
    ("src/core/f.cpp", "auto a = std::chrono::system_clock::now();\n", 1, "time"),
    ("src/core/g.cpp", "/* one\ntwo */ auto a = steady_clock::now();\n", 2, "time"),
    ("src/watch/a.cpp", "clock_gettime(CLOCK_BOOTTIME, &t);\n", 1, "time"),
    ("src/core/h.cpp", "srand(time(nullptr));\n", 1, "time"),
    ("tests/functional/b.cpp", "std::this_thread::sleep_for(1s);\n", 1, "time"),
    ("bench/a.cpp", "usleep(5);\n", 1, "time"),
    ("src/net/a.cpp", "nanosleep(&t, nullptr);\n", 1, "time"),
    ("src/engine/d.cpp", "decision.changes.emplace_back(Ended{id});\n", 1, "one place"),
    ("src/daemon/e.cpp", "\n\n::execvp(name, argv);\n", 3, "one place"),
    ("src/cli/c.cpp", "syscall(SYS_execveat, fd, name, argv, envp, 0);\n", 1, "one place"),
    ("src/client/b.cpp", "if (vfork() == 0) return;\n", 1, "one place"),
    ("src/daemon/d.cpp", "\nreturn JsonObject{};\n", 2, "json"),
    ("src/writer/a.cpp", '#include "wire/json.hpp"\n', 1, "json"),
    ("src/core/i.cpp", "\n" * (LINES_MAX + 1), LINES_MAX + 1, "size"),
    ("src/core/j.hpp", "\nclass SessionManager {};\n", 2, "names"),
    ("src/core/k.hpp", "struct PeerInfo;\n", 1, "names"),
    ("src/core/l.hpp", "struct StringHelper {};\n", 1, "names"),
    ("src/core/m.hpp", "class TextUtil {};\n", 1, "names"),
    ("src/core/n.hpp", "struct RowData {};\n", 1, "names"),
]
GOOD = [
    ("src/core/z.cpp", '#include <string>\n#include "base/time.hpp"\n#include "core/end.hpp"\n'),
    ("src/core/z_test.cpp", '#include <gtest/gtest.h>\n#include "testing/clock.hpp"\n'),
    ("src/engine/z.cpp", '#include "store/store.hpp"\n'),
    ("src/engine/end_events.cpp", "changes.emplace_back(Ended{id});\n"),
    ("src/platform/child_plan.cpp", "execve(path, argv, environment);\n"),
    ("src/platform/y_test.cpp", "::execve(path, argv, environment);\n"),
    ("src/foreign/hermes/z.cpp", "#include <SQLiteCpp/Database.h>\n"),
    ("src/foreign/z.cpp", '#include "config/key_table.hpp"\n'),
    ("src/reset/z.cpp", '#include <date/tz.h>\n#include "core/error.hpp"\n'),
    ("src/config/z.cpp", "#include <yaml-cpp/parser.h>\n"),
    ("src/net/http/z.cpp", '#include <boost/beast/http.hpp>\n#include "net/outbox.hpp"\n'),
    ("src/cli/z.cpp", '#include <CLI/CLI.hpp>\n#include "daemon/daemon.hpp"\n'),
    ("src/space/z.cpp",
     '#include <curl/curl.h>\n#include "deliver/webhook/guarded_handle.hpp"\n'),
    ("src/store/sqlite/z.cpp", '#include <SQLiteCpp/Database.h>\n#include "store/store.hpp"\n'),
    ("src/rpc/methods/z.cpp", '#include "wire/json.hpp"\nJsonObject render();\n'),
    ("src/platform/z.cpp", "auto a = std::chrono::steady_clock::now();\n"),
    ("src/core/y.cpp", "// steady_clock::now()\nauto a = \"sleep_for\"; auto n = 65'536;\n"),
    ("src/core/x.cpp", '/*\n#include "net/a.hpp"\n*/ struct Information {};\n' + "\n" * 400),
    ("tests/functional/z.cpp", '#include "functional/daemon.hpp"\n#include "cli/table.hpp"\n'),
    ("bench/z.cpp", "#include <sqlite3.h>\nauto a = std::chrono::steady_clock::now();\n"),
]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        for path, text, *_ in BAD + GOOD:
            file = top / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        found = {(path, line, rule) for path, line, _, rule in check_tree(top)[0]}
    expected = {(path, line, rule) for path, _, line, rule in BAD}
    for path, line, rule in sorted(expected - found):
        print(f"{path}:{line}: not found [{rule}]")
    for path, line, rule in sorted(found - expected):
        print(f"{path}:{line}: found, but it is no violation [{rule}]")
    print(f"self-test: {len(expected & found)} of {len(BAD)} violations found")
    return expected == found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--self-test", action="store_true")
    if parser.parse_args().self_test:
        return 0 if self_test() else 1
    found, count = check_tree(Path(__file__).resolve().parent.parent)
    for path, line, what, rule in found:
        print(f"{path}:{line}: {what} [{rule}]")
    print(f"layers: {count} files, {len(found)} findings")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
