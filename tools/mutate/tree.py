"""The copy of the sources that is mutated and built.  The sources themselves are never written."""

import hashlib
import os
import pathlib
import subprocess
import tempfile

import suites

# A mutation may leave a name unused; that must not save it.
QUIET = '#pragma clang diagnostic ignored "-Weverything"\n#line 1\n'
BUILD_SECONDS_MAX = 900
DEPENDED_ON = ("src/", "tests/", "CMake", *(f"tools/mutate/{name}.py" for name in ("sandbox", "suites", "tree", "trial")))
NOT_RUN = ("tests/sim/mutants/", "tests/torture/")


class BuildFailed(Exception):
    pass


class Tree:
    def __init__(self, top, place, jobs, log):
        self.top = pathlib.Path(top)
        self.place = pathlib.Path(place)
        self.jobs = jobs
        self.log = pathlib.Path(log)
        self.pristine = {}      # {target: fingerprint} without a mutation

    def sync(self):
        """Makes the copy equal, whatever an interrupted run left in it.  Only what differs is written, so little
        is built again."""
        wanted = set(self._git_files())
        manifest = self.place / "files.txt"
        before = set(manifest.read_text().splitlines()) if manifest.exists() else set()
        for path in before - wanted:
            (self.place / path).unlink(missing_ok=True)
        for path in wanted:
            self.restore(path)
        manifest.write_text("".join(f"{path}\n" for path in sorted(wanted)))

    def restore(self, path):
        origin, copy = self.top / path, self.place / path
        content = origin.read_bytes()
        if not copy.is_file() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
        if copy.stat().st_mode != origin.stat().st_mode:
            copy.chmod(origin.stat().st_mode)

    def mutate(self, path, content):
        (self.place / path).write_text(QUIET + content)

    def digest(self):
        """Of all that verdicts depend on."""
        total = hashlib.sha256()
        for path in sorted(self._git_files()):
            if path.startswith(DEPENDED_ON) and not path.startswith(NOT_RUN):
                total.update(f"{path}\0".encode() + (self.top / path).read_bytes() + b"\0")
        return total.hexdigest()[:20]

    def configure(self):
        if not (self.place / "build/release/build.ninja").exists():
            self._run(["cmake", "--preset", "release"])

    def build(self, targets):
        self._run(["ninja", "-C", "build/release", "-j", str(self.jobs), *targets])

    def remember_pristine(self):
        for stage in suites.STAGES:
            for target in suites.TARGETS[stage]:
                self.pristine[target] = self.fingerprint(target)

    def differs(self, stage):
        """Has the mutation changed what this stage runs?"""
        return any(self.fingerprint(target) != self.pristine[target] for target in suites.TARGETS[stage])

    def fingerprint(self, target):
        """Of the machine code: without what debuggers want to know of lines and columns."""
        with tempfile.NamedTemporaryFile(dir=self.place) as bare:
            subprocess.run(["llvm-objcopy", "--strip-all", "--remove-section=.note.gnu.build-id",
                            self.place / suites.binary_of(target), bare.name], check=True)
            return hashlib.sha256(pathlib.Path(bare.name).read_bytes()).hexdigest()

    def _git_files(self):
        listed = subprocess.run(["git", "-C", self.top, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                check=True, capture_output=True, text=True).stdout
        return [path for path in listed.split("\0") if path and (self.top / path).is_file()]

    def _run(self, words):
        # Blind to the repository around it: the commit in --version would make each commit another program.
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(self.place.resolve().parent)}
        with open(self.log, "a", encoding="utf-8") as log:
            try:
                status = subprocess.run(words, cwd=self.place, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                        stderr=log, check=False, timeout=BUILD_SECONDS_MAX).returncode
            except subprocess.TimeoutExpired:
                status = "time-out"
        if status != 0:
            raise BuildFailed(f"{' '.join(words)}: {status}")
