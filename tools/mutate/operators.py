"""The operators: each finds the places in a source where it can change one thing, and says to what."""

import collections
import re

from lexer import CLOSING, OPENING, OUTSIDE, Source

Mutation = collections.namedtuple("Mutation", "path operator line last_line start end replacement")

# How often each is drawn.
WEIGHTS = {
    "comparison": 3,    # turned: == to !=, < to >=
    "boundary": 3,      # moved: < to <=
    "condition": 4,     # a term or a negation dropped; the whole true or false
    "statement": 4,     # dropped
    "arguments": 1,     # two neighbours swapped
    "constant": 2,      # one more, or zero; true to false
    "return": 2,        # before its time
    "lock": 1,          # not taken
    "fence": 3,         # a condition on the generation or the identity, in C++ or in SQL, dropped
}

TURNED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
FENCE = re.compile(r"generation|epoch|fenc|start_ticks|boot_id|pid_ns|pid_namespace")
LOCKS = {"lock_guard", "scoped_lock", "unique_lock", "shared_lock"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "++", "--"}
# What only saves time or memory, or stops the process where it cannot go on: no test can see it go.
UNSEEN = {"reserve", "shrink_to_fit", "CHECK"}
NOT_EXPRESSIONS = {
    "return", "co_return", "using", "typedef", "const", "auto", "static", "constexpr", "thread_local", "throw",
    "goto", "case", "default", "template", "struct", "class", "enum", "static_assert", "if", "for", "while",
    "do", "switch", "try", "else", "friend", "namespace", "fmt", "spdlog",
}
NOT_CALLS = {
    "if", "for", "while", "switch", "return", "co_return", "catch", "sizeof", "decltype", "static_cast", "noexcept",
    "alignas", "co_await",
}
TERM_ENDS = {",", ";", "=", "?", ":", "return", "co_return", "||", "+=", "|=", "&="}
NUMBER = re.compile(r"(0[xX][0-9a-fA-F']+|\d[\d']*)([A-Za-z_]\w*)?")
SQL_TERM = re.compile(
    r"\b(?:WHERE|AND|OR|ON)\s+"
    r"(?P<term>[\w.]+\s*(?P<sign><=|>=|<>|!=|=|<|>|IS NOT|IS)\s*(?:\?\d*|NULL|[:@]\w+|'[^']*'|[\w.]+))"
)


def mutations_of(path, text):
    """All single changes that the operators know for a file, each result once, in order of place."""
    source = Source(path, text)
    found = {}
    for find in (locks, sql_terms, comparisons, conditions, terms, negations, statements, arguments, constants, returns):
        for operator, start, end, replacement in find(source):
            if text[start:end] != replacement:
                mutation = Mutation(path, operator, source.line_of(start), source.line_of(max(start, end - 1)),
                                    start, end, replacement)
                found.setdefault(apply(mutation, text), mutation)
    return sorted(found.values(), key=lambda m: (m.start, m.end, m.replacement))


def apply(mutation, text):
    return text[: mutation.start] + mutation.replacement + text[mutation.end :]


def fence_or(operator, text):
    return "fence" if FENCE.search(text) else operator


def comparisons(source):
    for index, token in enumerate(source.tokens):
        if token.kind != "sign" or token.text not in TURNED or index in source.silent:
            continue
        if token.text in ("==", "!=") or source.is_spaced(index):
            yield "comparison", token.start, token.end, TURNED[token.text]
            if token.text in MOVED:
                yield "boundary", token.start, token.end, MOVED[token.text]


def conditions(source):
    """The whole condition of an if or a while.  One that declares something is left alone."""
    for index, token in enumerate(source.tokens):
        if token.text not in ("if", "while") or source.word(index + 1) != "(" or index in source.silent:
            continue
        first = index + 2
        for inner in source.siblings(index + 1):
            if source.word(inner) == ";":
                first = inner + 1
        last = source.match[index + 1] - 1
        inside = [source.word(i) for i in source.siblings(index + 1) if i >= first]
        if "=" in inside or not inside or inside in (["true"], ["false"]):
            continue
        start, end = source.tokens[first].start, source.tokens[last].end
        operator = fence_or("condition", source.text[start:end])
        yield operator, start, end, "false"
        if token.text == "if":
            yield operator, start, end, "true"


def terms(source):
    """One side of && and ||."""
    for index, token in enumerate(source.tokens):
        if token.text not in ("&&", "||") or not source.is_spaced(index) or index in source.silent:
            continue
        ends = TERM_ENDS | ({"&&"} if token.text == "&&" else set())
        left = index - 1
        while left >= 0 and not is_end(source, left, index, ends):
            left = source.match[left] - 1 if source.word(left) in CLOSING else left - 1
        right = index + 1
        while right < len(source.tokens) and not is_end(source, right, index, ends):
            right = source.match[right] + 1 if source.word(right) in OPENING else right + 1
        left, right = left + 1, right - 1
        if left > index - 1 or right < index + 1:
            continue
        here, there = source.tokens[left].start, source.tokens[index + 1].start
        yield fence_or("condition", source.text[here:token.start]), here, there, ""
        here, there = source.tokens[index - 1].end, source.tokens[right].end
        yield fence_or("condition", source.text[token.end : there]), here, there, ""


def is_end(source, index, inside, ends):
    return source.owner[index] != source.owner[inside] or source.word(index) in ends


def sql_terms(source):
    """Terms of a WHERE in string literals, also where the statement is spread over several of them.

    A dropped term keeps its parameter, so that the numbers of the others stay: `(? OR 1)` is true.
    """
    index = 0
    while index < len(source.tokens):
        run = index
        while run < len(source.tokens) and source.tokens[run].kind in ("text", "raw"):
            run += 1
        if run == index:
            index += 1
            continue
        letters, places = [], []
        for token in source.tokens[index:run]:
            opening = token.text.index("(" if token.kind == "raw" else '"') + 1
            closing = token.text.rindex(")" if token.kind == "raw" else '"')
            letters.append(token.text[opening:closing])
            places += range(token.start + opening, token.start + closing)
        for match in SQL_TERM.finditer("".join(letters)):
            yield from sql_term(match, places)
        index = run


def sql_term(match, places):
    start, end = places[match.start("term")], places[match.end("term") - 1] + 1
    if end - start != len(match["term"]):
        return      # spread over two literals
    parameter = re.search(r"\?\d*|[:@]\w+", match["term"])
    always = f"({parameter[0]} OR 1)" if parameter else "1"
    yield fence_or("condition", match["term"]), start, end, always
    if match["sign"] in MOVED:
        yield "boundary", places[match.start("sign")], places[match.end("sign") - 1] + 1, MOVED[match["sign"]]


def negations(source):
    for index, token in enumerate(source.tokens):
        if token.kind == "sign" and token.text == "!" and index not in source.silent:
            yield "condition", token.start, token.end, ""


def statement_starts(source):
    """(first, semicolon) of each simple statement in a function."""
    for index, token in enumerate(source.tokens):
        owner = source.owner[index]
        if token.text != ";" or token.kind != "sign" or owner == OUTSIDE or source.kind.get(owner) != "block":
            continue
        first = source.head_of(index)
        first = max(first, owner + 1)
        while first < index:
            word = source.word(first)
            if word in ("if", "for", "while", "switch"):
                bracket = first + 1 if source.word(first + 1) == "(" else first + 2
                first = source.match.get(bracket, index) + 1
                if source.word(first) == "[":
                    first = source.match[first] + 1
            elif word in ("else", "do"):
                first += 1
            elif word in ("case", "default"):
                first = next((i + 1 for i in range(first, index) if source.word(i) == ":"), index)
            else:
                break
        if first < index:
            yield first, index


def is_declaration(source, first, last):
    """`Type name`, `Type& name`, `Type<...> name`."""
    index = first
    while index < last:
        word, after = source.tokens[index], source.tokens[index + 1]
        if word.text in ASSIGNMENTS or word.text in OPENING or word.text in (".", "->"):
            return False
        if word.text in ("co_await", "delete"):
            return False
        if after.kind == "word" and word.kind == "word":
            return True
        is_glued = not source.text[word.start - 1].isspace()
        if after.kind == "word" and word.text in ("&", "*", "&&", ">", ">>") and is_glued:
            return True
        index += 1
    return False


def statements(source):
    for first, semicolon in statement_starts(source):
        words = [source.tokens[i] for i in range(first, semicolon)]
        start, end = words[0].start, source.tokens[semicolon].end
        names = {token.text for token in words}
        if first in source.silent or words[0].text in NOT_EXPRESSIONS or names & UNSEEN:
            continue
        if words[0].text in ("break", "continue"):
            yield "statement", start, end, ";"
        elif not is_declaration(source, first, semicolon - 1) and names & (ASSIGNMENTS | {"(", "co_await"}):
            yield "statement", start, end, ";"


def locks(source):
    for first, semicolon in statement_starts(source):
        if LOCKS & {source.word(i) for i in range(first, min(first + 6, semicolon))}:
            yield "lock", source.tokens[first].start, source.tokens[semicolon].end, ";"


def arguments(source):
    for index, token in enumerate(source.tokens):
        before = source.tokens[index - 1] if index else token
        if token.text != "(" or token.kind != "sign" or index in source.silent or not source.in_block(index):
            continue
        if before.kind != "word" or before.text in NOT_CALLS or source.word(index - 2) == "fmt":
            continue
        commas = [i for i in source.siblings(index) if source.word(i) == "," and source.owner[i] == index]
        edges = [index, *commas, source.match.get(index, index)]
        spans = [(edges[i] + 1, edges[i + 1] - 1) for i in range(len(edges) - 1)]
        for (first, last), (next_first, next_last) in zip(spans, spans[1:]):
            if first > last or next_first > next_last:
                continue
            a, b = source.text_between(first, last), source.text_between(next_first, next_last)
            between = source.text[source.tokens[last].end : source.tokens[next_first].start]
            yield "arguments", source.tokens[first].start, source.tokens[next_last].end, b + between + a


def constants(source):
    for index, token in enumerate(source.tokens):
        if index in source.silent:
            continue
        if token.text in ("true", "false") and source.word(index - 2) != "while":
            yield "constant", token.start, token.end, "false" if token.text == "true" else "true"
        match = NUMBER.fullmatch(token.text) if token.kind == "number" else None
        if match:
            value = int(match[1].replace("'", ""), 0 if match[1].lower().startswith("0x") else 10)
            suffix = match[2] or ""
            yield "constant", token.start, token.end, f"{value + 1}{suffix}"
            if value > 1:
                yield "constant", token.start, token.end, f"0{suffix}"


def returns(source):
    for brace, kind in source.kind.items():
        if kind != "block" or brace + 1 == source.match.get(brace, brace + 1) or brace in source.silent:
            continue
        values = values_returned(source, brace)
        places = [source.tokens[brace].end]
        inner = [i for i in source.siblings(brace) if source.word(i) == ";" and source.owner[i] == brace]
        places += [source.tokens[i].end for i in inner[:-1]]
        for value in values:
            for place in places:
                yield "return", place, place, f" {value}"


def values_returned(source, brace):
    """What may be returned from the function of this body; nothing when it is no function's body."""
    close = source.match[brace]
    words = [source.word(i) for i in range(brace, close)]
    is_coroutine = any(word in words for word in ("co_await", "co_return", "co_yield"))
    go_back = "co_return" if is_coroutine else "return"
    owner = source.owner[brace]
    if owner == OUTSIDE or source.kind.get(owner) == "scope":
        first = source.head_of(brace)
        bracket = next((i for i in range(first, brace) if source.word(i) == "("), None)
        if bracket is None or source.word(first) in ("operator", "explicit"):
            return [f"{go_back};"] if bracket else []
        head = [source.word(i) for i in range(first, bracket)]
        is_maker = "~" in head or (len(head) > 2 and head[-1] == head[-3] and head[-2] == "::") or len(head) == 1
        if is_maker or head[-2:-1] == ["void"] or "void" in head:
            return [f"{go_back};"]
        return [f"{go_back} {{}};"] + ([f"{go_back} true;"] if "bool" in head else [])
    return []
