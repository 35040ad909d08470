"""Commands under `knell run`: the wrapper, the command it starts, and what that leaves behind."""

import signal

from procs import handle, innermost_pid, read, wall, with_variable
from truth import Actor, Bystander, Life


class Run:
    """One wrapper.  The command is known once it has said who it is."""

    def __init__(self, world, session, wrapper, gate, said):
        self.world = world
        self.session = session
        self.wrapper = wrapper              # Popen: knell run itself, or the unshare around it
        self.gate = gate
        self.said = said
        self.stderr = f"{world.dir}/{session}.said"
        self.life = None
        self.children = {}                  # file with a pid: policy
        self.nested = False                 # in a pid namespace of its own
        self.borrowed = False               # the wrapper is another's; its own is not a child of ours
        self.shares_fate = False            # may die with another command
        self.wrapper_killed = False
        self.launched = self.seen_alive = wall()
        self.killed_from = None             # before it was killed without being known

    @property
    def command(self):
        return self.life.owner if self.life else None

    def settle(self):
        """Looks whether the command has begun, or has died without being told to."""
        if not self.life:
            text = read(self.said)
            if text.endswith(b"\n"):
                self.resolve(int(text))
            return
        now = wall()
        if self.command.dead or self.command.lives():
            self.seen_alive = now
        elif self.shares_fate or self.killed_from:
            self.command.died = (self.killed_from or self.seen_alive, wall())
        else:
            self.command.died = (self.seen_alive, wall())
            self.world.ledger.blame(f"the command of {self.life} was killed, and not by its owner")

    def resolve(self, pid_it_says):
        for pid in with_variable("KNELL_SESSION_ID", self.session):
            if innermost_pid(pid) != pid_it_says:
                continue
            try:
                actor = Actor(pid, f"command of {self.session}", self.gate)
            except OSError:
                return
            self.life = self.world.ledger.add(
                Life(self.session, 1, actor, "run", certain=False, run=self))
            self.seen_alive = wall()
            self.note_children()
            return

    def note_children(self):
        for name, policy in self.children.items():
            pid = int(read(name) or 0)
            held = handle(pid) if pid else None
            if not held:
                continue
            if policy == "report":
                self.world.ledger.bystanders.append(Bystander(pid, f"left by {self.session}, to be reported"))
            else:
                self.world.ledger.leftovers.append((self, held))

    def begun(self, seconds=30):
        def look():
            self.settle()
            return self.life or (self.wrapper.poll() is not None)
        self.world.wait(look, seconds)
        return self.life is not None

    def never_ran(self):
        """Whether the wrapper gave up on its command, which it must never do."""
        undisturbed = not self.wrapper_killed and not self.shares_fate and not self.borrowed
        return not self.begun(10) and undisturbed and self.wrapper.poll() is not None

    def kill_wrapper(self, number=signal.SIGKILL):
        self.wrapper_killed = True
        self.wrapper.send_signal(number)
        self.wrapper.wait()


def launch(world, text="", options=(), prefix=(), variables=None, session=None, wait=True):
    session = session or world.name("run")
    argv, gate, said = world.script(text, session)
    with open(f"{world.dir}/{session}.said", "ab") as stderr:
        wrapper = world.spawn([*prefix, world.knell, "run", "--id", session, *options, "--", *argv],
                              stderr=stderr, env={**world.environment, **(variables or {})})
    run = Run(world, session, wrapper, gate, said)
    world.runs.append(run)
    if wait and not world.stalled:
        run.begun()
    return run


def plain(world):
    launch(world, wait=world.rng.random() < 0.7)


def with_children(world):
    """Leaves processes behind: one in its group, one in a session of its own."""
    policy = world.rng.choice(("report", "stop"))
    session = world.name("run")
    near, far = f"{world.dir}/{session}.near", f"{world.dir}/{session}.far"
    text = f"sleep 100000 & echo $! > {near}\n"
    if policy == "report":
        text += f"setsid sleep 100000 & echo $! > {far}\n"
    run = launch(world, text, ("--leftovers", policy), session=session, wait=False)
    run.children = {near: policy, far: policy} if policy == "report" else {near: policy}
    if not world.stalled:
        run.begun()


def inside_another(world):
    """A run in a run: the outer command is the inner wrapper."""
    if world.stalled:
        return False
    inner, outer = world.name("run"), world.name("run")
    argv, gate, said = world.script("", inner)
    wrap = f"echo $$ > {world.dir}/{outer}.pid\nexec {world.knell} run --id {inner} -- " \
           f"{' '.join(argv)} 2>> {world.dir}/{inner}.said"
    run = launch(world, wrap, ("--leftovers", "report"), session=outer, wait=False)
    follow = Run(world, inner, run.wrapper, gate, said)
    follow.borrowed = follow.shares_fate = run.shares_fate = True
    world.runs.append(follow)
    world.wait(lambda: run.begun(1) and follow.begun(1), 30)
    return True


def beside_another(world):
    """One session's command starts another session and ends; the other is nobody's leftover."""
    if world.stalled:
        return False
    second, first = world.name("run"), world.name("run")
    argv, gate, said = world.script("", second)
    detach = world.rng.choice(("setsid ", ""))
    text = (f"{detach}{world.knell} run --id {second} -- {' '.join(argv)} 2>> {world.dir}/{second}.said &\n"
            f"while [ ! -e {said} ]; do sleep 0.1; done")
    run = launch(world, text, ("--leftovers", "stop"), session=first, wait=False)
    follow = Run(world, second, run.wrapper, gate, said)
    follow.borrowed = True
    world.runs.append(follow)
    if not world.wait(lambda: run.begun(1) and follow.begun(1), 30) or read(follow.stderr):
        follow.shares_fate = True           # the daemon may not know of it
    elif world.rng.random() < 0.7:
        run.command.leave(0)
    return True


def in_a_namespace(world):
    """The pids it knows are not ours."""
    if "nested" not in world.may or not world.daemons():
        return False
    starts = world.rng.randint(0, 20)       # so that its command's pid is a number that others have
    become = world.rng.choice(("exec", ""))
    shift = f"i=0; while [ $i -lt {starts} ]; do /bin/true; i=$((i+1)); done; {become} \"$@\""
    policy = world.rng.choice(("report", "stop"))
    variables = {}
    if world.rng.random() < 0.25:
        variables["KNELL_SOCKET"] = f"{world.dir}/nowhere.sock"     # it must be spooled
    run = launch(world, options=("--leftovers", policy), variables=variables, wait=False,
                 prefix=("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", shift, "sh"))
    run.nested = True
    if not variables and not world.stalled:
        run.begun()
    return True


def finish(world):
    runs = [run for run in world.runs if run.life and not run.command.dead]
    if runs:
        end(world, world.rng.choice(runs))
    return bool(runs)


def end(world, run, gently=False):
    how = world.rng.randrange(2 if run.borrowed else 0, 6)
    if run.nested and (how < 2 or gently):
        run.killed_from = wall()
        run.wrapper_killed = True
        run.wrapper.kill()                  # unshare, and the whole namespace with it
        run.command.died_with(run.killed_from)
        run.wrapper.wait()
    elif how == 0 and not run.shares_fate and not gently:
        run.kill_wrapper()                  # the command goes on without it
    elif how == 1 and not run.nested and not run.shares_fate and run.wrapper.poll() is None:
        before = wall()
        run.wrapper.send_signal(world.rng.choice((signal.SIGTERM, signal.SIGHUP)))
        run.command.died_with(before)       # the wrapper passes it on
    elif how < 4:
        run.command.leave(world.rng.choice((0, 0, 1, 42)))
    else:
        run.command.kill(world.rng.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV)))
        run.settle()
