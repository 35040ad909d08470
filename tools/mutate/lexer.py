"""A light lexer for C++: enough to find where an operator can be applied, no more.

It relies on clang-format: `a < b` is a comparison, `vector<int>` is not; `a && b` is a conjunction,
`T&& x` a reference.  A site that was misread gives a mutant that does not compile, and costs seconds.
"""

import bisect
import collections
import re

Token = collections.namedtuple("Token", "kind text start end")

TOKEN = re.compile(
    r"""
      (?P<space>\s+|\\\n)
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]*)\(.*?\)(?P=delimiter)")
    | (?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"\w*)
    | (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
    | (?P<number>(?:0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*(?:\.\d+)?(?:[eE][+-]?\d+)?)\w*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
DIRECTIVE = re.compile(r"[ \t]*#(?:[^\n\\]|\\.)*", re.DOTALL)

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {")", "]", "}"}
OUTSIDE = -1


def tokens_of(text):
    tokens = []
    place = 0
    at_line_start = True
    while place < len(text):
        directive = DIRECTIVE.match(text, place) if at_line_start else None
        if directive:
            place = directive.end()
            at_line_start = False
            continue
        match = TOKEN.match(text, place)
        kind = match.lastgroup if match.lastgroup != "delimiter" else "raw"
        if match.group("raw") is not None:
            kind = "raw"
        piece = match.group()
        if kind == "space":
            at_line_start = at_line_start or "\n" in piece
            # A directive may be indented: look at it from the start of its line.
            if "\n" in piece:
                place += piece.rindex("\n") + 1
                if not text[place : match.end()] or DIRECTIVE.match(text, place):
                    continue
                place = match.end()
                continue
        elif kind != "comment":
            tokens.append(Token(kind, piece, match.start(), match.end()))
            at_line_start = False
        place = match.end()
    return tokens


class Source:
    """The tokens of a file, with what encloses each: `block` is code, `scope` declarations, `list` values."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.tokens = tokens_of(text)
        self.match = {}
        self.owner = []
        self.kind = {}
        self._line_starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self._pair_brackets()
        self.silent = self._find_silent()

    def line_of(self, offset):
        return bisect.bisect_right(self._line_starts, offset)

    def word(self, index):
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def is_spaced(self, index):
        """With white space on both sides."""
        token = self.tokens[index]
        return self.text[token.start - 1].isspace() and self.text[token.end : token.end + 1].isspace()

    def text_between(self, first, last):
        """Of the tokens from first to last, both included."""
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def in_block(self, index):
        """Is it in the body of a function?"""
        while index != OUTSIDE:
            index = self.owner[index]
            if index != OUTSIDE and self.kind.get(index) == "block":
                return True
        return False

    def siblings(self, opening):
        """The tokens directly within a pair of brackets; of an inner pair only its ends."""
        index = opening + 1
        while index < self.match.get(opening, len(self.tokens)):
            yield index
            if index in self.match and self.word(index) in OPENING:
                index = self.match[index]
                yield index
            index += 1

    def head_of(self, brace):
        """Where the declaration or statement starts that a brace belongs to."""
        index = brace - 1
        while index >= 0 and self.owner[index] == self.owner[brace]:
            word = self.word(index)
            if word == ";" or (word == "}" and self.kind.get(self.match[index]) != "list"):
                break
            if word == ":" and self.word(index - 1) in ("public", "private", "protected"):
                break
            index = self.match[index] - 1 if word in CLOSING else index - 1
        return index + 1

    def _pair_brackets(self):
        open_ones = []
        for index, token in enumerate(self.tokens):
            sign = token.text if token.kind == "sign" else ""
            if sign in CLOSING and open_ones:
                opening = open_ones.pop()
                self.match[opening] = index
                self.match[index] = opening
            self.owner.append(open_ones[-1] if open_ones else OUTSIDE)
            if sign in OPENING:
                if sign == "{":
                    self.kind[index] = self._kind_of_brace(index)
                open_ones.append(index)

    def _kind_of_brace(self, brace):
        before = self.word(brace - 1)
        owner = self.owner[brace]
        around = "scope" if owner == OUTSIDE else self.kind.get(owner, "list")
        if before in ("else", "do", "try"):
            return "block"
        head = [self.word(i) for i in range(self.head_of(brace), brace) if self.owner[i] == owner]
        if around == "scope":
            if "namespace" in head or "extern" in head:
                return "scope"
            if any(word in head for word in ("class", "struct", "union")) and "(" not in head:
                return "scope"
            if "enum" in head:
                return "list"
            is_body = "(" in head and (before in (")", "}") or before in ("const", "noexcept", "override", "final", "requires"))
            return "block" if is_body or ("(" in head and "->" in head) else "list"
        if before in (")", "]", "mutable", "noexcept") or (around == "block" and before in (";", "{", "}", ":", "")):
            return "block"
        if around == "block" and any(word in head for word in ("struct", "class")) and "(" not in head:
            return "scope"
        # A lambda that says what it returns: `[&](int x) -> Result {`.
        index = brace - 1
        while index > 0 and (self.tokens[index].kind == "word" or self.word(index) in ("::", "<", ">", "*", "&", ">>")):
            index -= 1
        return "block" if self.word(index) == "->" and self.word(index - 1) in (")", "mutable") else "list"

    def _find_silent(self):
        """Tokens that nobody mutates: what only the compiler or a reader of messages sees."""
        silent = set()
        for index, token in enumerate(self.tokens):
            word = token.text
            after = self.word(index + 1)
            last = None
            if word in ("static_assert", "decltype", "noexcept", "alignas", "sizeof", "CHECK") and after == "(":
                last = self.match.get(index + 1)
            elif word == "fmt" and after == "::" and self.word(index + 3) == "(":
                last = self.match.get(index + 3)
            elif word == "[" and after == "[":
                last = self.match.get(index)
            elif word == "operator":
                last = index + 1
            elif word in ("using", "friend", "typedef"):
                last = next((i for i in range(index, len(self.tokens)) if self.word(i) == ";"), None)
            elif word == "template" and after == "<":
                last = self._end_of_angles(index + 1)
            elif word == "=" and after in ("0", "default", "delete") and self.word(index + 2) == ";":
                is_declaration = self.word(index - 1) in (")", "const", "noexcept", "override")
                last = index + 1 if is_declaration else None
            if last is not None:
                silent.update(range(index, last + 1))
        return silent

    def _end_of_angles(self, index):
        depth = 0
        while index < len(self.tokens):
            depth += {"<": 1, ">": -1, ">>": -2}.get(self.word(index), 0)
            if depth <= 0:
                return index
            index += 1
        return None
