#!/usr/bin/env python3
"""Applies a mutation to a copy of the sources, or checks that all of them still apply.

    tools/mutant.py apply TREE FILE     changes the sources under TREE
    tools/mutant.py revert TREE FILE    takes that back, from the sources here
    tools/mutant.py check TREE FILE...  exit status 1 names those that no longer fit

A mutation is a text file: a sentence on what is wrong, an empty line, then one or more changes:

    in src/engine/decide_due.cpp
    after Decision decide_due(
    - if (hold && !live.unknown_since()) {
    + if (hold && live.unknown_since()) {

Lines are found by their text, whatever their indentation and wherever they moved.  `after` is needed
only where they stand more than once: the first place behind that text is meant.
"""

import pathlib
import sys


HERE = pathlib.Path(__file__).resolve().parent


class Misfit(Exception):
    """The sources have changed: the mutation has to be written again."""


def parse(path):
    head, _, body = path.read_text().partition("\n\n")
    if not head.strip() or not body.strip():
        raise Misfit("needs a sentence, an empty line and a change")
    changes = []
    for line in body.splitlines():
        word, _, rest = line.partition(" ")
        if word == "in":
            changes.append({"file": rest, "after": None, "old": [], "new": []})
        elif word == "after" and changes:
            changes[-1]["after"] = rest
        elif word == "-" and changes:
            changes[-1]["old"].append(rest.strip())
        elif word == "+" and changes:
            changes[-1]["new"].append(rest.strip())
        elif line.strip():
            raise Misfit(f"cannot read the line: {line}")
    return changes


def places_of(wanted, lines):
    width = len(wanted)
    texts = [line.strip() for line in lines]
    return [i for i in range(len(texts) - width + 1) if texts[i : i + width] == wanted]


def change_one(tree, change):
    old, new = change["old"], change["new"]
    path = tree / change["file"]
    if not path.is_file():
        raise Misfit(f"no file {change['file']}")
    lines = path.read_text().splitlines()
    places = places_of(old, lines)
    if change["after"] is not None:
        anchors = [i for i, line in enumerate(lines) if change["after"] in line]
        if not anchors:
            raise Misfit(f"{change['file']} does not hold: {change['after']}")
        places = [place for place in places if place >= anchors[0]][:1]
    if len(places) != 1:
        raise Misfit(f"{change['file']} holds {len(places)} times: {' '.join(old)}")
    place = places[0]
    indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
    lines[place : place + len(old)] = [indent + text for text in new]
    return path, "\n".join(lines) + "\n"


def change_all(tree, mutation, write):
    for change in parse(mutation):
        if not change["old"] or not change["new"]:
            raise Misfit("each change needs lines to find (-) and lines to put there (+)")
        path, text = change_one(tree, change)
        if write:
            path.write_text(text)


def revert(tree, mutation):
    for change in parse(mutation):
        original = HERE.parent / change["file"]
        (tree / change["file"]).write_text(original.read_text())


def main(arguments):
    if len(arguments) < 3 or arguments[0] not in ("apply", "revert", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    verb, tree, *files = arguments
    status = 0
    for file in files:
        mutation = pathlib.Path(file)
        try:
            if verb == "revert":
                revert(pathlib.Path(tree), mutation)
            else:
                change_all(pathlib.Path(tree), mutation, verb == "apply")
        except Misfit as misfit:
            print(f"{mutation.name}: {misfit}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
