"""The worker side of tutti in Python: a backend is a class, and serve() hosts it here.

A worker script finds this module in the folder "python" beside libtutti_worker.so, as
backends/example_python/worker.py shows:

    class Mine(tutti_backend.Backend):
        name, memory, paths = "mine", tutti_backend.MEMORY_CUDA, ["path"]
        def version(self): ...                     # text
        def plan(self, facts, rank, request): ...  # a path's name, or raise Failure
        def create(self, world): ...               # a Communicator, or raise Failure
    sys.exit(tutti_backend.serve(Mine()))

The rules of backend.h hold unchanged: bounded waits, all ranks the same answer from create. A
Failure carries a status and a reason; any other Exception becomes ERROR with its text as the
reason, so a library's exception is no crash. What is no Exception (SystemExit, KeyboardInterrupt)
and what leaves a function that has no status (version, enqueued work) ends the process with a
traceback. Functions are called from the main thread, what is given to Device.enqueue from the
stream's thread, and abort from any.
"""

import ctypes
import functools
import itertools
import os
import sys
import traceback
from ctypes import POINTER, c_char_p, c_int, c_void_p

from tutti_abi import *  # noqa: F403  the constants are part of this module


class Failure(Exception):
    """Anything that is not OK: a status and its reason."""

    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status
        self.reason = reason


# ---- What backends are given ----

_work = {}
_work_numbers = itertools.count(1)

EXIT_STATUS = 70  # EX_SOFTWARE of sysexits.h


def _callback(function):
    """For functions that C calls: ctypes drops what they raise and returns 0, which reads as OK."""

    @functools.wraps(function)
    def ends_the_process(*arguments):
        try:
            return function(*arguments)
        except BaseException:
            try:
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(EXIT_STATUS)

    return ends_the_process


@Work
@_callback
def _run_work(number):
    _work.pop(number)()


class Device:
    """The device services; a code other than 0 becomes Failure(ERROR)."""

    def __init__(self, table):
        self.table = table
        self.kind = table.kind

    def call(self, name, *arguments):
        code = getattr(self.table, name)(self.table.self, *arguments)
        if code != 0:
            raise Failure(ERROR, f"{name}: {self.table.error_name(self.table.self, code).decode()}")

    def allocate(self, size):
        memory = c_void_p()
        self.call("allocate", size, ctypes.byref(memory))
        return memory.value

    def export_memory(self, memory):
        handle = MemoryHandle()
        self.call("export_memory", memory, ctypes.byref(handle))
        return bytes(handle.bytes)

    def import_memory(self, handle, peer):
        memory = c_void_p()
        self.call(
            "import_memory",
            ctypes.byref(MemoryHandle.from_buffer_copy(handle)),
            peer,
            ctypes.byref(memory),
        )
        return memory.value

    def enqueue(self, stream, function):
        """Runs function() on the stream's thread; what it raises ends the process."""
        number = next(_work_numbers)
        _work[number] = function
        try:
            self.call("enqueue", stream, _run_work, number)
        except Failure:
            del _work[number]
            raise


class World:
    def __init__(self, table):
        self.table = WorldTable.from_buffer_copy(table)
        self.rank, self.size = table.rank, table.world
        self.local_rank, self.local_size = table.local_rank, table.local_size
        self.deadline_ms = table.deadline_ms
        self.facts = table.facts.contents
        self.device = Device(table.device.contents)

    def exchange(self, data):
        """Allgather of bytes, which have the same length on all ranks: a list by rank."""
        received = ctypes.create_string_buffer(max(1, len(data) * self.size))
        status = self.table.exchange(self.table.self, data, received, len(data))
        if status != OK:
            raise Failure(status, "a rank left during an exchange")
        return [
            received.raw[len(data) * rank : len(data) * (rank + 1)] for rank in range(self.size)
        ]

    def agree(self, failure=None):
        """Collective. Raises the same Failure on all ranks if any has one; refusals go first."""
        mine = (
            (chr(failure.status) + failure.reason if failure else chr(OK))
            .encode()[:256]
            .ljust(256, b"\0")
        )
        failures = [
            (text[0], rank, text[1:].rstrip(b"\0").decode(errors="replace"))
            for rank, text in enumerate(self.exchange(mine))
            if text[0] != OK
        ]
        if failures:
            status, rank, reason = min(
                failures, key=lambda one: (one[0] not in (UNSUPPORTED, NOT_INSTALLED), one[1])
            )
            raise Failure(status, f"rank {rank}: {reason}")

    def log(self, line):
        self.table.log(self.table.self, line.encode())


# ---- What backends are ----


class Communicator:
    """Methods raise Failure for anything but OK.

    With Backend.own_buffers also allocate(size), free_buffer(memory) and
    register_buffer(memory, size).
    """

    def run(self, request):
        """Enqueues, and returns the name of the path."""
        raise NotImplementedError

    def poll_error(self):
        """Raises what has gone wrong since the work was enqueued."""

    def abort(self):
        pass

    def destroy(self):
        pass


class Backend:
    name = ""
    memory = 0
    paths = []
    own_buffers = False  # its communicators have allocate, free_buffer and register_buffer

    def version(self):
        return ""

    def plan(self, facts, rank, request):
        raise NotImplementedError

    def create(self, world):
        raise NotImplementedError


class _Host:
    """The table of a backend. Owns everything that C holds pointers to."""

    def __init__(self, backend):
        self.backend = backend
        self.communicators = {}
        self.reasons = {0: "no create has failed"}
        self.kept = {}  # texts that were handed out, by their user
        self.numbers = itertools.count(1)
        self.paths = (c_char_p * (len(backend.paths) + 1))(
            *[path.encode() for path in backend.paths], None
        )
        self.table = Table(
            size=ctypes.sizeof(Table),
            abi_version=ABI_VERSION,
            name=backend.name.encode(),
            memory=backend.memory,
            paths=self.paths,
        )
        names = ["version", "plan", "create", "run", "poll_error", "abort", "destroy", "reason"]
        if backend.own_buffers:
            names += ["allocate", "free_buffer", "register_buffer"]
        types = dict(Table._fields_)
        for name in names:
            setattr(self.table, name, types[name](_callback(getattr(self, name))))

    def text(self, user, text):
        self.kept[user] = ctypes.create_string_buffer(text.encode())
        return ctypes.addressof(self.kept[user])

    def guarded(self, number, function):
        """A status for what the function raises."""
        try:
            function()
            return OK
        except Failure as failure:
            self.reasons[number] = failure.reason
            return failure.status
        except Exception as error:  # a library's own exception is its way to say ERROR
            self.reasons[number] = f"{type(error).__name__}: {error}"
            return ERROR

    def version(self):
        return self.text("version", self.backend.version())

    def plan(self, facts, rank, request, plan):
        plan = plan.contents
        try:
            path = self.backend.plan(facts.contents, rank, request.contents)
            plan.answer, plan.text = PLAN_PATH, path.encode()[:239]
        except Failure as failure:
            plan.answer, plan.text = PLAN_REFUSED, failure.reason.encode()[:239]
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            plan.answer, plan.text = PLAN_UNKNOWN, text.encode()[:239]
            return ERROR
        return OK

    def create(self, world, communicator):
        def create():
            number = next(self.numbers)
            self.communicators[number] = self.backend.create(World(world.contents))
            communicator[0] = number

        return self.guarded(0, create)

    def run(self, number, request, path):
        def run():
            path[0] = self.text(("path", number), self.communicators[number].run(request.contents))

        return self.guarded(number, run)

    def poll_error(self, number):
        return self.guarded(number, lambda: self.communicators[number].poll_error())

    def abort(self, number):
        return self.guarded(number, lambda: self.communicators[number].abort())

    def destroy(self, number):
        status = self.guarded(number, lambda: self.communicators.pop(number).destroy())
        self.reasons.pop(number, None)
        self.kept.pop(("path", number), None)
        self.kept.pop(("reason", number), None)
        return status

    def reason(self, number):
        number = number or 0
        return self.text(("reason", number), self.reasons.get(number, "nothing has failed"))

    def allocate(self, number, size, memory):
        def allocate():
            memory[0] = self.communicators[number].allocate(size)

        return self.guarded(number, allocate)

    def free_buffer(self, number, memory):
        return self.guarded(number, lambda: self.communicators[number].free_buffer(memory))

    def register_buffer(self, number, memory, size):
        return self.guarded(
            number, lambda: self.communicators[number].register_buffer(memory, size)
        )


def serve(backend):
    """Hosts the backend until its rank hangs up; returns the exit status for the process."""
    file = os.environ.get("TUTTI_WORKER_LIBRARY")
    if not file:
        raise SystemExit(
            "TUTTI_WORKER_LIBRARY is not set: workers are started by tutti run, not by hand"
        )
    library = ctypes.CDLL(file)
    library.tutti_worker_serve.argtypes = [POINTER(Table)]
    library.tutti_worker_serve.restype = c_int
    host = _Host(backend)
    return library.tutti_worker_serve(ctypes.byref(host.table))
