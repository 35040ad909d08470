#!/usr/bin/env python3
"""Tests of the mutation tester: what the operators make of C++, what is drawn, and that equivalent.txt still fits."""

import contextlib
import io
import pathlib
import sqlite3
import sys
import unittest

sys.dont_write_bytecode = True

import draw
import operators
import suites
import verdicts
from lexer import Source, tokens_of
from report import Report

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def mutants(code, operator=None):
    """The changed pieces, as `old -> new`."""
    return {f"{code[m.start:m.end]} -> {m.replacement.strip()}" for m in operators.mutations_of("src/a/b.cpp", code)
            if operator in (None, m.operator)}


def results(code, operator):
    return {operators.apply(m, code) for m in operators.mutations_of("src/a/b.cpp", code) if m.operator == operator}


def body(code):
    return f"void f() {{\n{code}\n}}\n"


class Patience(unittest.TestCase):
    def test_takes_the_nearest_tests_and_one_at_least(self):
        batches = [suites.Batch("unit", (name,), seconds) for name, seconds in (("a", 30.0), ("b", 1.0), ("c", 9.0))]
        self.assertEqual(suites.nearest(batches, 20), batches[:1])
        self.assertEqual(suites.nearest(batches, 31), batches[:2])
        self.assertEqual(suites.nearest(batches, 40), batches)
        self.assertEqual(suites.nearest([], 20), [])

    def test_who_was_put_aside_is_counted_once_and_as_living_until_all_tests_ran(self):
        report = Report(2)
        first, second = (operators.Mutation("src/a/b.cpp", "fence", 1, 1, start, 9, "x") for start in (1, 2))
        with contextlib.redirect_stdout(io.StringIO()):
            report.add(first, "put aside", "", 1.0, "")
            report.add(second, "caught", "a test", 1.0, "")
            self.assertEqual((report.counted(), len(report.survivors)), (2, 1))
            self.assertEqual(report.take_aside(), [first])
            report.add(first, "caught", "another test", 1.0, "")
        self.assertEqual((report.counted(), len(report.survivors), report.take_aside()), (2, 0, []))
        self.assertEqual(report.by_folder()["src/a"]["caught"], 2)


class Lexer(unittest.TestCase):
    def test_leaves_out_comments_and_directives(self):
        code = '#include <a>\n  #define X a < \\\n    b\n// a < b\n/* c < d */ int x;\n'
        self.assertEqual([token.text for token in tokens_of(code)], ["int", "x", ";"])

    def test_reads_text_numbers_and_signs(self):
        code = 'R"(a "b" ;)" "x\\"y" \'\\\'\' 45s 3\'600\'000 0x1f a->b <=> c::d'
        self.assertEqual([token.text for token in tokens_of(code)],
                         ['R"(a "b" ;)"', '"x\\"y"', "'\\''", "45s", "3'600'000", "0x1f", "a", "->", "b", "<=>", "c", "::", "d"])

    def test_tells_code_from_declarations_and_lists(self):
        code = "namespace n { struct S { int a{1}; int f() const { return a; } }; Foo x{2}; A::A() : b_{3}, c_(4) { go(); } }"
        source = Source("a.cpp", code)
        kinds = [source.kind[i] for i in sorted(source.kind)]
        self.assertEqual(kinds, ["scope", "scope", "list", "block", "list", "list", "block"])

    def test_a_lambda_is_code(self):
        for code in ("auto x = [&](int a) { go(a); };", "auto x = [&] { go(); };", "run([](int a) -> Result<int> { go(a); });"):
            source = Source("a.cpp", body(code))
            self.assertEqual([source.kind[i] for i in sorted(source.kind)], ["block", "block"], code)


class Operators(unittest.TestCase):
    def test_turn_comparisons_and_move_boundaries(self):
        code = body("return a < b;")
        self.assertEqual(mutants(code, "comparison"), {"< -> >="})
        self.assertEqual(mutants(code, "boundary"), {"< -> <="})
        self.assertEqual(mutants(body("return a == b;"), "comparison"), {"== -> !="})

    def test_take_no_template_for_a_comparison(self):
        self.assertEqual(mutants("template <typename T>\nstd::vector<int> f(std::map<int, T>& x);", "comparison"), set())

    def test_drop_terms_of_conditions(self):
        code = body("return a.b(1) && c || d;")
        self.assertEqual(results(code, "condition"), {body("return c || d;"), body("return a.b(1) || d;"), body("return d;"),
                                                      body("return a.b(1) && c;")})

    def test_take_no_rvalue_reference_for_a_term(self):
        self.assertEqual(mutants("void f(T&& a, U&& b);"), set())

    def test_force_conditions_unless_they_declare(self):
        self.assertEqual(mutants(body("if (x.ok()) go();"), "condition"), {"x.ok() -> true", "x.ok() -> false"})
        self.assertEqual(mutants(body("if (int y = z(); y) go();"), "condition"), {"y -> true", "y -> false"})
        self.assertEqual(mutants(body("if (const auto y = z()) go();"), "condition"), set())
        self.assertEqual(mutants(body("while (x) go();"), "condition"), {"x -> false"})

    def test_drop_negations(self):
        self.assertIn("! -> ", mutants(body("return !x;"), "condition"))

    def test_drop_statements_but_not_declarations(self):
        for code in ("go(1);", "x = y;", "a->b.c();", "++x;", "*x = 1;", "co_await x;", "break;", "std::vector<int>{}.size();"):
            self.assertIn(f"{code} -> ;", mutants(body(code), "statement"), code)
        for code in ("int x = 1;", "const auto y = go();", "Foo bar(1);", "std::vector<int> x(3);", "Foo& x = y();",
                     "return go();", "CHECK(x);", "x.reserve(3);", 'fmt::print("x");', "auto x = [] { return 1; };"):
            self.assertEqual(mutants(body(code), "statement"), set(), code)

    def test_drop_a_statement_behind_its_condition(self):
        self.assertEqual(mutants(body("for (int i = 0; i < 3; ++i) if (x) go();"), "statement"), {"go(); -> ;"})
        self.assertEqual(mutants(body("switch (x) { case A: go(); }"), "statement"), {"go(); -> ;"})

    def test_swap_arguments(self):
        self.assertEqual(mutants(body("go(a, b(1), c);"), "arguments"), {"a, b(1) -> b(1), a", "b(1), c -> c, b(1)"})
        self.assertEqual(mutants("void go(int a, int b);", "arguments"), set())
        self.assertEqual(mutants(body("go(a, a);"), "arguments"), set())

    def test_change_constants(self):
        self.assertEqual(mutants("constexpr auto ttl = 45s;", "constant"), {"45s -> 46s", "45s -> 0s"})
        self.assertEqual(mutants(body("x(true);"), "constant"), {"true -> false"})
        self.assertEqual(mutants("virtual void f() = 0;", "constant"), set())

    def test_leave_messages_and_what_the_compiler_checks(self):
        self.assertEqual(mutants("static_assert(sizeof(X) == 8);"), set())
        self.assertEqual(mutants(body('throw Error(fmt::format("{}", a == b ? 1 : 2));')), {" -> return;"})

    def test_return_early(self):
        self.assertEqual(results("int f() { go(); return 1; }", "return"), {"int f() { return {}; go(); return 1; }",
                                                                            "int f() { go(); return {}; return 1; }"})
        self.assertEqual(results("A::A() { go(); }", "return"), {"A::A() { return; go(); }"})
        self.assertEqual(results("bool f() { go(); }", "return"), {"bool f() { return {}; go(); }", "bool f() { return true; go(); }"})
        self.assertEqual(results("task<void> f() { co_await x; }", "return"), {"task<void> f() { co_return; co_await x; }"})

    def test_drop_locks(self):
        code = body("const std::lock_guard lock(mutex_);\n++x_;")
        self.assertEqual(mutants(code, "lock"), {"const std::lock_guard lock(mutex_); -> ;"})

    def test_drop_fences(self):
        self.assertEqual(mutants(body("if (a && x.generation != y) go();"), "fence"),
                         {" && x.generation != y -> ", "a && x.generation != y -> false", "a && x.generation != y -> true"})

    def test_drop_fences_of_sql_also_over_several_literals(self):
        code = '"UPDATE t SET generation = ? WHERE id = ? AND "\n  "generation = ?2 AND x IS NULL AND at <= ?"'
        self.assertEqual(mutants(code, "fence"), {"generation = ?2 -> (?2 OR 1)"})
        self.assertEqual(mutants(code, "condition"), {"id = ? -> (? OR 1)", "x IS NULL -> 1", "at <= ? -> (? OR 1)"})
        self.assertEqual(mutants(code, "boundary"), {"<= -> <"})

    def test_a_dropped_term_of_sql_keeps_its_parameter_and_is_true(self):
        for value in (0, 1, None, "text"):
            row = sqlite3.connect(":memory:").execute("SELECT ?1 WHERE (?2 OR 1) AND ?1 = 7", (7, value)).fetchone()
            self.assertEqual(row, (7,), value)

    def test_make_each_mutant_once(self):
        code = (TOP / "src/engine/decide_close.cpp").read_text()
        made = [operators.apply(mutation, code) for mutation in operators.mutations_of("src/engine/decide_close.cpp", code)]
        self.assertEqual(len(made), len(set(made)))
        self.assertNotIn(code, made)


class Choice(unittest.TestCase):
    def setUp(self):
        self.code = (TOP / "src/engine/decide_close.cpp").read_text()
        self.all = operators.mutations_of("src/engine/decide_close.cpp", self.code)

    def test_is_the_same_for_a_seed_and_leaves_nothing_out(self):
        first = list(draw.sequence(self.all, 7))
        self.assertEqual(first, list(draw.sequence(self.all, 7)))
        self.assertNotEqual(first, list(draw.sequence(self.all, 8)))
        self.assertEqual(sorted(first), sorted(self.all))

    def test_knows_folders_files_and_patterns(self):
        self.assertTrue(draw.is_in("src/cli/run_child.cpp", "src/cli/run*"))
        self.assertFalse(draw.is_in("src/cli/app.cpp", "src/cli/run*"))
        self.assertTrue(draw.is_in("src/store/sqlite/row.cpp", "src/store"))
        self.assertFalse(draw.is_in("src/storey/row.cpp", "src/store"))
        self.assertFalse(draw.is_source("src/a/b_test.cpp"))

    def test_finds_files_in_every_folder(self):
        for folder in draw.FOLDERS:
            self.assertTrue(draw.files_in(TOP, [folder]), folder)

    def test_reads_changed_lines(self):
        diff = "--- a/src/a.cpp\n+++ b/src/a.cpp\n@@ -3 +3,2 @@ x\n@@ -9,2 +10,0 @@\n@@ -20 +20 @@\n"
        self.assertEqual(draw.lines_of_diff(diff), {"src/a.cpp": {3, 4, 20}})


class Tests(unittest.TestCase):
    def test_the_nearest_come_first_then_the_quickest(self):
        batches = suites.in_batches("unit", [(2, "B.b"), (1, "A.slow"), (1, "A.quick"), (4, "C.c")], {"A.slow": 2.5, "A.quick": 1.0})
        self.assertEqual([batch.tests for batch in batches], [("A.quick",), ("A.slow",), ("B.b",), ("C.c",)])

    def test_distance(self):
        self.assertEqual(suites.distance("src/a/b.cpp", "src/a/b_test.cpp", ""), 1)
        self.assertEqual(suites.distance("src/a/b.cpp", "src/a/c_test.cpp", ""), 2)
        self.assertEqual(suites.distance("src/a/b.cpp", "tests/functional/c_test.cpp", '#include "a/b.hpp"'), 3)
        self.assertEqual(suites.distance("src/cli/run_child.cpp", "tests/functional/run_test.cpp", ""), 3)
        self.assertEqual(suites.distance("src/a/b.cpp", "tests/functional/c_test.cpp", ""), 4)

    def test_reads_what_gtest_says(self):
        passed, failed, running = suites.read_run(
            "[ RUN      ] A.a\n[       OK ] A.a (12 ms)\n[ RUN      ] S/B.b/0\n"
            "[  FAILED  ] S/B.b/0, where GetParam() = (1, 2) (3 ms)\n[ RUN      ] C.c\n")
        self.assertEqual((passed, failed, running), ({"A.a": 0.012}, {"S/B.b/0"}, "C.c"))
        self.assertEqual(suites.tests_in_listing("Running main()\nS/B.\n  b/0  # GetParam() = 1\nA.\n  a\n"), ["S/B.b/0", "A.a"])

    def test_suites_have_names_without_their_instances(self):
        self.assertEqual([suites.suite_of(name) for name in ("A.a", "S/B.b/0", "T/1.c")], ["A", "B", "T"])

    def test_each_suite_of_a_test_file_is_found(self):
        self.assertEqual(suites.files_of_suites(TOP)["LastLines"][0], "src/client/log_tail_test.cpp")


class Equivalents(unittest.TestCase):
    ENTRY = "# why\n\nin src/a/b.cpp\noperator boundary\n- if (a < b) go();\n+ if (a <= b) go();\nwhy Never equal.\n"

    def test_are_recognised_wherever_they_moved(self):
        entries = verdicts.read_equivalents(self.ENTRY)
        code = body("        if (a < b) go();")
        found = [verdicts.judged(entries, m, code) for m in operators.mutations_of("src/a/b.cpp", code)]
        self.assertEqual([why for why in found if why], ["Never equal."])

    def test_need_all_fields(self):
        with self.assertRaises(verdicts.Misfit):
            verdicts.read_equivalents(self.ENTRY.replace("why Never equal.\n", ""))

    def test_of_the_repository_still_fit(self):
        for entry in verdicts.read_equivalents((TOP / "tools/mutate/equivalent.txt").read_text()):
            path = TOP / entry.path
            self.assertTrue(path.is_file(), entry.path)
            code = path.read_text()
            made = operators.mutations_of(entry.path, code)
            self.assertTrue(any(verdicts.judged([entry], mutation, code) for mutation in made),
                            f"{entry.path}: the operator {entry.operator} no longer makes `{entry.new}` of `{entry.old}`")


class Cache(unittest.TestCase):
    def test_a_verdict_holds_for_the_same_sources_and_a_killer_for_longer(self):
        class Unsaved(verdicts.Cache):
            def save(self):
                pass

        cache = Unsaved("/nonexistent/verdicts.json", "sources")
        key = cache.key("src/a.cpp", "mutated")
        cache.put(key, path="src/a.cpp", verdict="caught", stage="unit", test="A.a", how="fails")
        self.assertEqual(cache.verdict(key)["test"], "A.a")
        cache.digest = "others"
        self.assertIsNone(cache.verdict(key))
        self.assertEqual(cache.killer(key), ("unit", "A.a"))
        self.assertEqual(cache.killers("src/a.cpp", "unit"), ["A.a"])


if __name__ == "__main__":
    unittest.main()
