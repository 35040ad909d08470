"""What is known of mutants: verdicts of earlier runs, and survivors that somebody judged to be equivalent."""

import collections
import hashlib
import json
import pathlib

KILLERS_MAX = 12


def changed(mutation, text):
    """(lines taken away, lines put there), without their indentation."""
    start = text.rfind("\n", 0, mutation.start) + 1
    end = text.find("\n", max(mutation.start, mutation.end - 1))
    end = len(text) if end < 0 else end
    new = text[start : mutation.start] + mutation.replacement + text[mutation.end : end]
    return (tuple(line.strip() for line in text[start:end].split("\n")),
            tuple(line.strip() for line in new.split("\n")))


class Cache:
    """By the mutated file's content and all sources.  Whoever caught a mutant is asked first when these changed."""

    def __init__(self, path, digest):
        self.path = pathlib.Path(path)
        self.digest = digest
        self.known = {}
        self.baselines = {}
        if self.path.exists():
            stored = json.loads(self.path.read_text())
            self.known, self.baselines = stored["verdicts"], stored["baselines"]

    @staticmethod
    def key(path, content):
        return hashlib.sha256(f"{path}\0{content}".encode()).hexdigest()[:24]

    def verdict(self, key):
        entry = self.known.get(key)
        return entry if entry and entry["sources"] == self.digest else None

    def killer(self, key):
        entry = self.known.get(key, {})
        return (entry["stage"], entry["test"]) if entry.get("verdict") == "caught" else None

    def killers(self, path, stage):
        """Tests that caught other mutants of the file, the most successful first."""
        tally = collections.Counter(entry["test"] for entry in self.known.values()
                                    if entry["verdict"] == "caught" and entry["path"] == path and entry["stage"] == stage)
        return [test for test, _ in tally.most_common(KILLERS_MAX)]

    def put(self, key, **entry):
        self.known[key] = {**entry, "sources": self.digest}
        self.save()

    def baseline(self):
        return self.baselines.get(self.digest)

    def put_baseline(self, baseline):
        self.baselines = {self.digest: baseline}
        self.save()

    def save(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"verdicts": self.known, "baselines": self.baselines}))
        part.replace(self.path)


Equivalent = collections.namedtuple("Equivalent", "path operator old new after why")


class Misfit(Exception):
    pass


def read_equivalents(text):
    entries = []
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
        if not lines:
            continue
        fields = {"in": [], "operator": [], "after": [], "-": [], "+": [], "why": []}
        for line in lines:
            word, _, rest = line.partition(" ")
            if word not in fields:
                raise Misfit(f"cannot read the line: {line}")
            fields[word].append(rest.strip())
        if not all(fields[word] for word in ("in", "operator", "-", "+", "why")):
            raise Misfit(f"needs in, operator, -, + and why: {lines[0]}")
        entries.append(Equivalent(fields["in"][0], fields["operator"][0], tuple(fields["-"]), tuple(fields["+"]),
                                  (fields["after"] or [""])[0], " ".join(fields["why"])))
    return entries


def judged(entries, mutation, text):
    """The reason, when the mutant is known to be equivalent."""
    for entry in entries:
        is_same = (entry.path, entry.operator, (entry.old, entry.new)) == (
            mutation.path, mutation.operator, changed(mutation, text))
        if is_same and entry.after in text[: mutation.start]:
            return entry.why
    return None
