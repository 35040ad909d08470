"""What is told: a line for each mutant, and at the end the table and the survivors."""

import difflib
import json
import os

VERDICTS = ("caught", "survived", "put aside", "equivalent")


def diff_of(path, old, new):
    return "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{path}", f"b/{path}", n=3))


class Report:
    def __init__(self, wanted):
        self.wanted = wanted
        self.mutants = []
        self.stillborn = 0
        self._aside = {}        # {place: mutation} in the order in which they are tried again

    def add(self, mutation, verdict, by, seconds, diff):
        """In place of what was said before of one that was put aside."""
        place = (mutation.path, mutation.start, mutation.operator, mutation.replacement)
        self.mutants = [mutant for mutant in self.mutants if mutant["place"] != place]
        if verdict == "put aside":
            self._aside[place] = mutation
        self.mutants.append({"place": place, "path": mutation.path, "line": mutation.line, "operator": mutation.operator,
                             "verdict": verdict, "by": by, "seconds": round(seconds, 1), "diff": diff})
        told = {"caught": f"caught by {by}", "survived": "SURVIVED", "put aside": "lives through the nearest tests",
                "equivalent": f"equivalent: {by}"}[verdict]
        print(f"[{self.counted()}/{self.wanted}] {mutation.path}:{mutation.line} {mutation.operator}: {told} ({seconds:.0f} s)",
              flush=True)

    def take_aside(self):
        """Those to be tried with all tests now."""
        aside, self._aside = list(self._aside.values()), {}
        return aside

    @property
    def survivors(self):
        """With those of an interrupted run that were not tried with all tests: nothing has caught them."""
        return [mutant for mutant in self.mutants if mutant["verdict"] in ("survived", "put aside")]

    def counted(self):
        return sum(mutant["verdict"] != "equivalent" for mutant in self.mutants)

    def by_folder(self):
        rows = {}
        for mutant in self.mutants:
            row = rows.setdefault(os.path.dirname(mutant["path"]), dict.fromkeys(VERDICTS, 0))
            row[mutant["verdict"]] += 1
        return rows

    def table(self):
        lines = [f"{'folder':24} {'mutants':>8} {'caught':>8} {'score':>7} {'equivalent':>11}"]
        total = dict.fromkeys(VERDICTS, 0)
        for folder, row in sorted(self.by_folder().items()):
            lines.append(self._row(folder, row))
            total = {verdict: total[verdict] + row[verdict] for verdict in VERDICTS}
        return "\n".join([*lines, self._row("all", total)])

    @staticmethod
    def _row(name, row):
        mutants = row["caught"] + row["survived"] + row["put aside"]
        score = f"{100 * row['caught'] / mutants:.0f} %" if mutants else "-"
        return f"{name:24} {mutants:8} {row['caught']:8} {score:>7} {row['equivalent']:11}"

    def print_end(self, seconds, build_seconds):
        print(f"\n{self.table()}")
        for mutant in self.survivors:
            all_of = "" if mutant["verdict"] == "survived" else " the nearest tests, the rest was not run"
            print(f"\nSURVIVED{all_of}: {mutant['path']}:{mutant['line']} {mutant['operator']}\n{mutant['diff']}", end="")
        each = seconds / max(1, len(self.mutants))
        print(f"\n{self.counted()} mutants, {len(self.survivors)} survived; {self.stillborn} more did not compile; "
              f"{seconds:.0f} s ({build_seconds:.0f} s of them building), {each:.0f} s each")

    def write_json(self, path, **more):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**more, "stillborn": self.stillborn, "folders": self.by_folder(), "mutants": self.mutants}, file,
                      indent=2)
