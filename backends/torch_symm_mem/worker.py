"""PyTorch's symmetric memory: one_shot and two_shot of torch.ops.symm_mem as two paths.

Send and recv are slices of symmetric tensors (allocate), on which the ranks rendezvous
(register_buffer).
"""

import datetime
import os
import sys
import warnings

sys.path.insert(
    0, os.path.join(os.path.dirname(os.environ.get("TUTTI_WORKER_LIBRARY", "")), "python")
)
from tutti_backend import (  # noqa: E402
    ALLREDUCE,
    BFLOAT16,
    ERROR,
    FLOAT32,
    MEMORY_CUDA,
    NOT_INSTALLED,
    SUM,
    UNSUPPORTED,
    Backend,
    Communicator,
    Failure,
    serve,
)

# The process group is of one host. Here and not in the claims, because it is no matter of safety:
# what claims declare, other backends get as well.
os.environ["GLOO_SOCKET_IFNAME"] = "lo"

try:
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symm_mem

    MISSING = None
    if torch.version.cuda is None:
        MISSING = (
            f"PyTorch {torch.__version__} is built without CUDA; install PyTorch with CUDA "
            f"(2.11 is known to work) for {sys.executable}"
        )
except ImportError as error:
    MISSING = f"{error}; install PyTorch with CUDA (2.11 is known to work) for {sys.executable}"

ONE_SHOT, TWO_SHOT = "one_shot", "two_shot"
ONE_SHOT_BYTES_MAX = 256 * 1024  # when the path is ours to choose


def require_world(facts):
    """What all ranks know of the machine decides for plan and create alike."""
    devices = set()
    for rank in range(facts.world):
        one = facts.ranks[rank]
        if one.host != facts.ranks[0].host:
            raise Failure(UNSUPPORTED, "symmetric memory needs all ranks on one host")
        if not all(one.peer_access[peer] for peer in range(facts.world)):
            raise Failure(UNSUPPORTED, "symmetric memory needs peer access between all ranks")
        devices.add(one.device)
    if len(devices) < facts.world:
        raise Failure(UNSUPPORTED, "symmetric memory takes one rank a GPU")


def path_of(request):
    """The path of a request, or a refusal: the rules of PyTorch's operators."""
    if request.collective != ALLREDUCE or request.extension:
        raise Failure(UNSUPPORTED, "only plain allreduce")
    if request.op != SUM:
        raise Failure(UNSUPPORTED, "the operators only sum")
    if request.dtype not in (FLOAT32, BFLOAT16):
        raise Failure(UNSUPPORTED, "the operators take fp32 and bf16")
    size = request.count * (4 if request.dtype == FLOAT32 else 2)
    if size % 4 or (request.count and (request.send % 4 or request.recv % 4)):
        raise Failure(
            UNSUPPORTED, "the operators need addresses and sizes that are multiples of 4 bytes"
        )
    if request.path is None:
        return ONE_SHOT if size <= ONE_SHOT_BYTES_MAX else TWO_SHOT
    path = request.path.decode()
    if path not in (ONE_SHOT, TWO_SHOT):
        raise Failure(UNSUPPORTED, f"there is no path {path}, only {ONE_SHOT} and {TWO_SHOT}")
    return path


def join_world(world):
    """A process group over all ranks, once a process; its store is on rank 0."""
    timeout = datetime.timedelta(milliseconds=world.deadline_ms)
    failure, store, port = None, None, 0
    try:
        if world.rank == 0:
            store = dist.TCPStore("127.0.0.1", 0, world.size, True, timeout, wait_for_workers=False)
            port = store.port
    except RuntimeError as error:
        failure = Failure(ERROR, f"TCPStore: {error}")
    world.agree(failure)
    port = int.from_bytes(world.exchange(port.to_bytes(4, "little"))[0], "little")
    try:
        store = store or dist.TCPStore(
            "127.0.0.1", port, world.size, False, timeout, wait_for_workers=False
        )
        dist.init_process_group(
            "gloo", store=store, rank=world.rank, world_size=world.size, timeout=timeout
        )
    except RuntimeError as error:
        failure = Failure(ERROR, f"init_process_group: {error}")
    world.agree(failure)


def vector_bytes(tensor):
    """The width of the operators' loads and stores: 16, 8 or 4, as divides offset and size."""
    size = tensor.element_size()
    return next(
        width
        for width in (16, 8, 4, 1)
        if tensor.storage_offset() * size % width == 0 and tensor.numel() * size % width == 0
    )


class SymmetricMemory(Communicator):
    def __init__(self, world):
        self.world = world
        self.buffers = (
            {}
        )  # symmetric tensors of bytes, by address: the memory lives as long as its tensor
        self.streams = {}
        self.device = torch.device("cuda", world.facts.ranks[world.rank].device_index)
        torch.cuda.set_device(self.device)
        if not dist.is_initialized():
            join_world(world)
        self.group = self.open_group()

    def open_group(self):
        """A group for each communicator: PyTorch remembers a group's store by the group's name."""
        failure, group = None, None
        try:
            timeout = datetime.timedelta(milliseconds=self.world.deadline_ms)
            group = dist.new_group(range(self.world.size), timeout=timeout, backend="gloo")
            with warnings.catch_warnings():  # needed before PyTorch 2.11, deprecated since
                warnings.simplefilter("ignore")
                symm_mem.enable_symm_mem_for_group(group.group_name)
        except RuntimeError as error:
            failure = Failure(ERROR, f"new_group: {error}")
        self.world.agree(failure)
        return group

    def allocate(self, size):
        tensor = symm_mem.empty(size, dtype=torch.uint8, device=self.device)
        self.buffers[tensor.data_ptr()] = tensor
        return tensor.data_ptr()

    def register_buffer(self, memory, size):
        failure = None
        try:
            handle = symm_mem.rendezvous(self.buffers[memory], self.group.group_name)
            if handle is None:
                failure = Failure(
                    UNSUPPORTED, "rendezvous gave no handle: the memory is not symmetric here"
                )
            elif handle.multicast_ptr != 0:
                failure = Failure(
                    ERROR, "rendezvous made a multicast object although multicast is disabled"
                )
        except RuntimeError as error:
            failure = Failure(ERROR, f"rendezvous: {error}")
        self.world.agree(failure)

    def free_buffer(self, memory):
        del self.buffers[memory]

    def tensor(self, address, request):
        """The elements at an address, as a slice of the symmetric tensor that holds them."""
        dtype, size = (torch.float32, 4) if request.dtype == FLOAT32 else (torch.bfloat16, 2)
        if request.count == 0:  # addresses mean nothing then
            return next(iter(self.buffers.values()))[:0].view(dtype)
        for first, buffer in self.buffers.items():
            if first <= address < first + buffer.numel():
                return buffer[address - first : address - first + request.count * size].view(dtype)
        raise Failure(UNSUPPORTED, "send or recv does not lie in memory of allocate")

    def stream(self, handle):
        if handle not in self.streams:
            self.streams[handle] = torch.cuda.ExternalStream(handle or 0, device=self.device)
        return self.streams[handle]

    def run(self, request):
        path = path_of(request)
        send = self.tensor(request.send, request)
        in_place = request.send == request.recv
        recv = send if in_place else self.tensor(request.recv, request)
        operators, group = torch.ops.symm_mem, self.group.group_name
        with torch.cuda.stream(self.stream(request.stream)):
            if path == TWO_SHOT:
                # The variant with an output of its own overwrites its input as well.
                if not in_place:
                    recv.copy_(send)
                operators.two_shot_all_reduce_(recv, "sum", group)
            elif in_place or recv.data_ptr() % vector_bytes(send):
                # In place, peers read our input until the operator ends. And the operator writes
                # with the alignment of its input, without looking at that of its output.
                recv.copy_(operators.one_shot_all_reduce(send, "sum", group))
            else:
                operators.one_shot_all_reduce_out(send, "sum", group, recv)
        return path

    def abort(self):
        raise Failure(
            ERROR,
            "PyTorch's kernels wait for their peers without a limit and cannot be ended",
        )

    def destroy(self):
        self.world.exchange(b"d")  # a rank that leaves early takes its store with it
        self.buffers.clear()
        dist.destroy_process_group(self.group)


class TorchSymmMem(Backend):
    name = "torch_symm_mem"
    memory = MEMORY_CUDA
    paths = [ONE_SHOT, TWO_SHOT]
    own_buffers = True

    def version(self):
        return "" if MISSING else torch.__version__

    def plan(self, facts, rank, request):
        require_world(facts)
        return path_of(request)

    def create(self, world):
        require_world(world.facts)
        failure = None
        if MISSING:
            failure = Failure(NOT_INSTALLED, MISSING)
        elif world.device.kind != MEMORY_CUDA or not torch.cuda.is_available():
            failure = Failure(
                UNSUPPORTED, "symmetric memory takes CUDA memory, and PyTorch sees no GPU"
            )
        elif os.environ.get("TORCH_SYMM_MEM_DISABLE_MULTICAST") != "1":
            failure = Failure(
                UNSUPPORTED,
                "set TORCH_SYMM_MEM_DISABLE_MULTICAST=1: this backend makes no multicast objects",
            )
        world.agree(failure)
        return SymmetricMemory(world)


if __name__ == "__main__":
    sys.exit(serve(TorchSymmMem()))
