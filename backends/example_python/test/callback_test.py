"""callback_test.py FOLDER: what a callback raises never passes for OK."""

import subprocess
import sys

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import tutti_backend as tb
from ctypes import byref, c_void_p

raised = eval(sys.argv[3])

class Broken(tb.Communicator):
    def poll_error(self):
        raise raised

class Mine(tb.Backend):
    name, memory, paths = "mine", tb.MEMORY_HOST, ["path"]
    def version(self):
        raise raised
    def plan(self, facts, rank, request):
        raise raised

host = tb._Host(Mine())
host.communicators[1] = Broken()
facts, request, plan = tb.Facts(), tb.Request(), tb.Plan()
call = {
    "poll_error": lambda: host.table.poll_error(1),
    "abort of nothing": lambda: host.table.abort(7),
    "destroy of nothing": lambda: host.table.destroy(7),
    "plan": lambda: host.table.plan(byref(facts), 0, byref(request), byref(plan)),
    "version": lambda: host.table.version(),
    "work": lambda: (tb._work.update({1: lambda: host.communicators[1].poll_error()}),
                     tb._run_work(1)),
}[sys.argv[2]]
print("status", call())
"""

ENDS = (70, "Traceback")
CASES = [
    ("poll_error", "ValueError('x')", (0, "status 2")),
    ("poll_error", "tb.Failure(tb.TIMED_OUT, 'x')", (0, "status 4")),
    ("poll_error", "SystemExit(0)", ENDS),
    ("poll_error", "KeyboardInterrupt()", ENDS),
    ("abort of nothing", "None", (0, "status 2")),
    ("destroy of nothing", "None", (0, "status 2")),
    ("plan", "ValueError('x')", (0, "status 2")),
    ("plan", "SystemExit(0)", ENDS),
    ("version", "ValueError('x')", ENDS),
    ("work", "ValueError('x')", ENDS),
]

failures = 0
for call, raised, (status, text) in CASES:
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM, sys.argv[1], call, raised],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    if done.returncode == status and text in done.stdout:
        continue
    failures += 1
    print(f"{call} raising {raised}: {done.returncode}, expected {status} with '{text}'")
    print(done.stdout)
print(f"{len(CASES) - failures} of {len(CASES)} as expected")
sys.exit(1 if failures else 0)
