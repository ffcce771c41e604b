"""PyTorch's operators without tutti, where a finding must be PyTorch's own. One process a GPU:

    torchrun --nproc-per-node 2 backends/torch_symm_mem/test/direct_check.py

one_shot_all_reduce_out writes with the alignment of its input. Is an output that is aligned to its
elements only refused, or does the kernel fault? Prints what happened; exit status 1 if anything but
a right result or a clean refusal did.
"""

import os

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem


def outcome(operator):
    try:
        result = operator()
        torch.cuda.synchronize()
        return (
            "right" if bool((result == sum(range(1, dist.get_world_size() + 1))).all()) else "WRONG"
        )
    except RuntimeError as error:
        line = str(error).splitlines()[0]
        return (
            "FAULT: "
            if "CUDA error" in line or "AcceleratorError" in type(error).__name__
            else "refused: "
        ) + line


assert (
    os.environ.get("TORCH_SYMM_MEM_DISABLE_MULTICAST") == "1"
), "set TORCH_SYMM_MEM_DISABLE_MULTICAST=1"
rank = int(os.environ["RANK"])
torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)))
dist.init_process_group("gloo")
group = dist.group.WORLD.group_name
send = symm_mem.empty(4096, dtype=torch.float32, device="cuda").fill_(rank + 1)
symm_mem.rendezvous(send, group)
torch.cuda.synchronize()
dist.barrier()
status = 0
for offset in (0, 1):  # the fault comes last: it ends the process's use of the GPU
    out = torch.zeros(4100, device="cuda")[offset : offset + 4096]
    said = outcome(lambda: torch.ops.symm_mem.one_shot_all_reduce_out(send, "sum", group, out))
    print(f"rank {rank}: output at {4 * offset} bytes from a 512-byte boundary: {said}", flush=True)
    status |= said.startswith(("WRONG", "FAULT"))
os._exit(status)
