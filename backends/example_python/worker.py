"""A backend in Python, to be copied: fp32 and int32 sums of ranks that share a host's memory.

Every rank has a workspace that its peers can read, copies its input there in chunks, publishes
each chunk by a number, waits for the same number of every peer, and adds up in rank order. Python
has no atomic operations, so the order of these plain stores and loads is that of the processor:
this works on x86, not on ARM.
"""

import ctypes
import os
import sys
import time
from array import array

sys.path.insert(
    0, os.path.join(os.path.dirname(os.environ.get("TUTTI_WORKER_LIBRARY", "")), "python")
)
from tutti_backend import (  # noqa: E402
    ABORTED,
    ALLREDUCE,
    FLOAT32,
    HANDLE_CUDA_IPC,
    INT32,
    MEMORY_HOST,
    SUM,
    TIMED_OUT,
    UNSUPPORTED,
    Backend,
    Communicator,
    Failure,
    serve,
)

CHUNK = 16384  # elements
COUNT_MAX = 1 << 16  # elements: an interpreter adds about two million of them a second
WRITTEN, READ, DATA = (
    0,
    8,
    64,
)  # offsets in a workspace: chunks that may be read, chunks that were read, the chunk
CODES = {FLOAT32: "f", INT32: "i"}


def require(facts, request=None):
    """The one place that decides for plan, create and run, from what all ranks know."""
    for rank in range(facts.world):
        if not all(facts.ranks[rank].peer_access[peer] for peer in range(facts.world)):
            raise Failure(UNSUPPORTED, "example_python needs peer access between all ranks")
        if not facts.ranks[rank].handles & HANDLE_CUDA_IPC:
            raise Failure(UNSUPPORTED, "example_python needs CUDA IPC on all ranks")
    if request is None:
        return
    if request.collective != ALLREDUCE or request.extension:
        raise Failure(UNSUPPORTED, "example_python has only plain allreduce")
    if request.dtype not in CODES or request.op != SUM:
        raise Failure(UNSUPPORTED, "example_python has only fp32 and int32 sums")
    if request.count > COUNT_MAX:
        raise Failure(UNSUPPORTED, f"example_python takes at most {COUNT_MAX} elements")


def added(code, chunks):
    """Sums by element; fp32 in double precision with one rounding, int32 wrapping around."""
    sums = map(sum, zip(*chunks))
    if code == "f":
        return array("f", sums)
    return array("i", [(value + 2**31) % 2**32 - 2**31 for value in sums])


class Chunks(Communicator):
    def __init__(self, world):
        self.world = world
        self.chunks = 0  # done so far, only touched on the stream
        self.failure = None
        self.mine = None
        self.all = []
        try:
            self.open()
        except Failure:
            self.destroy()
            raise

    def open(self):
        """Every step ends in an agreement, so either all ranks have a communicator or none has."""
        device, failure, handle = self.world.device, None, bytes(128)
        try:
            self.mine = device.allocate(DATA + 4 * CHUNK)
            handle = device.export_memory(self.mine)
        except Failure as error:
            failure = error
        handles = self.world.exchange(handle)
        self.world.agree(failure)
        try:
            for rank, handle in enumerate(handles):
                self.all.append(
                    self.mine if rank == self.world.rank else device.import_memory(handle, rank)
                )
        except Failure as error:
            failure = Failure(UNSUPPORTED, error.reason)
        self.world.agree(failure)

    def wait_for_all(self, offset, number):
        until = time.monotonic() + self.world.deadline_ms / 1000
        for workspace in self.all:
            counter = ctypes.c_uint64.from_address(workspace + offset)
            while counter.value < number:
                if self.failure:
                    raise self.failure
                if time.monotonic() > until:
                    raise Failure(
                        TIMED_OUT, "a peer did not publish or read a chunk before the deadline"
                    )
                time.sleep(0.00002)

    def reduce_chunk(self, code, send, recv, size):
        self.chunks += 1
        self.wait_for_all(READ, self.chunks - 1)  # a slow peer may still be reading our last chunk
        ctypes.memmove(self.mine + DATA, send, size)
        ctypes.c_uint64.from_address(self.mine + WRITTEN).value = self.chunks
        self.wait_for_all(WRITTEN, self.chunks)
        chunks = [array(code, ctypes.string_at(workspace + DATA, size)) for workspace in self.all]
        ctypes.memmove(recv, added(code, chunks).tobytes(), size)
        ctypes.c_uint64.from_address(self.mine + READ).value = self.chunks

    def allreduce(self, code, send, recv, count):
        """Runs on the stream. A failure ends all later work: the ranks' numbers no longer agree."""
        try:
            for first in range(0, count, CHUNK):
                if self.failure:
                    raise self.failure
                size = 4 * min(CHUNK, count - first)
                self.reduce_chunk(code, send + 4 * first, recv + 4 * first, size)
        except Failure as failure:
            self.failure = self.failure or failure

    def run(self, request):
        require(self.world.facts, request)
        if request.count > 0:
            # The request is only valid during this call, so its fields are taken out now.
            arguments = CODES[request.dtype], request.send, request.recv, request.count
            self.world.device.enqueue(request.stream, lambda: self.allreduce(*arguments))
        return "chunks"

    def poll_error(self):
        if self.failure:
            raise self.failure

    def abort(self):
        self.failure = self.failure or Failure(ABORTED, "abort was called")

    def destroy(self):
        """Collective, and every rank gets here whatever happened to it."""
        device = self.world.device
        for rank, workspace in enumerate(self.all):
            if rank != self.world.rank:
                device.call("close_memory", workspace)
        try:
            self.world.exchange(b"d")  # nobody frees memory that a peer still has open
        finally:
            if self.mine:
                device.call("release", self.mine)


class ExamplePython(Backend):
    name = "example_python"
    memory = MEMORY_HOST
    paths = ["chunks"]

    def version(self):
        return "1"

    def plan(self, facts, rank, request):
        require(facts, request)
        return "chunks"

    def create(self, world):
        require(world.facts)
        return Chunks(world)


if __name__ == "__main__":
    sys.exit(serve(ExamplePython()))
