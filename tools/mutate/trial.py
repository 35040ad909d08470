"""Runs the tests on what is built: until the first that fails."""

import concurrent.futures
import threading

import suites

SLOWER_THAN_USUAL = 6       # times: then it hangs
SECONDS_AT_LEAST = 30


class Caught(Exception):
    def __init__(self, stage, test, how):
        super().__init__(f"{test} ({how})")
        self.stage, self.test, self.how = stage, test, how


class Trial:
    def __init__(self, sandbox, tree, jobs):
        self.sandbox = sandbox
        self.tree = tree
        self.jobs = jobs
        self.flaky = set()
        self._lock = threading.Lock()
        self._caught = None

    def run(self, batches):
        """Raises Caught when a test fails."""
        self._caught = None
        self.sandbox.start_again()
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            try:
                for future in [pool.submit(self._run_batch, batch) for batch in batches]:
                    future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.sandbox.stop()
                raise
        if self._caught:
            raise self._caught

    def _run_batch(self, batch):
        if self.sandbox.is_stopped:
            return
        failure = self._failure_of(batch)
        with self._lock:
            # What fails because it was stopped has not failed.
            if failure and not self.sandbox.is_stopped:
                self._caught = failure
                self.sandbox.stop()

    def _failure_of(self, batch):
        done = self.start(batch)
        if done.status == 0:
            return None
        if batch.stage == "sim":
            done = self.start(batch) if done.timed_out else done
            return simulator_failure(batch, done) if done.status != 0 else None
        passed, failed, running = suites.read_run(done.output)
        if self.sandbox.is_stopped:
            return None
        test = running or next(iter(failed), None) or batch.tests[0]
        # On a busy machine a test of real processes may fail or be late by itself: it has to do so twice.
        if self.start(batch._replace(tests=(test,))).status != 0:
            how = "hangs" if done.timed_out else "fails" if failed else "crashes"
            return Caught(batch.stage, test, how)
        self.flaky.add(test)
        rest = tuple(other for other in batch.tests if other not in passed and other != test)
        return self._failure_of(batch._replace(tests=rest)) if rest else None

    def start(self, batch, go_on=False):
        seconds_max = SECONDS_AT_LEAST + SLOWER_THAN_USUAL * batch.seconds
        binary = f"./{suites.binary_of(suites.TARGETS[batch.stage][0])}"
        if batch.stage == "sim":
            return self.sandbox.run([binary, "--seeds", batch.tests[0], "--quick"], seconds_max)
        words = [binary, f"--gtest_filter={':'.join(batch.tests)}", "--gtest_color=no"]
        environment = {"KNELL_BIN": f"{self.sandbox.tree}/{suites.binary_of('knell')}", "RC_PARAMS": "seed=1"}
        words += [] if go_on else ["--gtest_fail_fast"]
        return self.sandbox.run(words, seconds_max, environment, has_limits=batch.stage != "functional")


def simulator_failure(batch, done):
    if done.timed_out:
        return Caught("sim", batch.tests[0], "hangs")
    said = dict(line.split(": ", 1) for line in done.output.splitlines() if ": " in line)
    return Caught("sim", said.get("seed", batch.tests[0]), said.get("broken", f"status {done.status}"))


def measure(trial, progress):
    """Without a mutation: ({stage: {test: seconds}} of what passes, what does not)."""
    seconds, failing = {}, []
    for stage in suites.STAGES:
        progress(stage)
        batches = [suites.Batch(stage, (name,), 60.0) for name in suites.seed_ranges()]
        if stage != "sim":
            batches = listed_batches(trial, stage)
        seconds[stage] = {}
        with concurrent.futures.ThreadPoolExecutor(trial.jobs) as pool:
            for batch, done in zip(batches, pool.map(lambda batch: trial.start(batch, go_on=True), batches)):
                if stage == "sim":
                    if done.status == 0:
                        seconds[stage][batch.tests[0]] = done.seconds
                    else:
                        failing.append(f"sim {batch.tests[0]}")
                else:
                    passed = suites.read_run(done.output)[0]
                    seconds[stage].update(passed)
        for batch in batches if stage != "sim" else ():
            for test in set(batch.tests) - set(seconds[stage]):
                again = suites.read_run(trial.start(batch._replace(tests=(test,))).output)[0]
                seconds[stage].update(again)
                if test not in again:
                    failing.append(test)
    return seconds, sorted(failing)


def listed_batches(trial, stage):
    binary = f"./{suites.binary_of(suites.TARGETS[stage][0])}"
    tests = suites.tests_in_listing(trial.sandbox.run([binary, "--gtest_list_tests"], 60).output)
    by_suite = {}
    for test in tests:
        by_suite.setdefault(test.partition(".")[0], []).append(test)
    return [suites.Batch(stage, tuple(group), 60.0) for group in by_suite.values()]
