"""layout_test.py PROGRAM FOLDER: FOLDER/tutti_abi.py has the structures as PROGRAM (layout.cc)."""

import ctypes
import subprocess
import sys

sys.path.insert(0, sys.argv[2])
import tutti_abi  # noqa: E402

MIRRORS = {
    "tutti_rank_facts": tutti_abi.RankFacts,
    "tutti_facts": tutti_abi.Facts,
    "tutti_memory_handle": tutti_abi.MemoryHandle,
    "tutti_device": tutti_abi.DeviceTable,
    "tutti_world": tutti_abi.WorldTable,
    "tutti_request": tutti_abi.Request,
    "tutti_plan": tutti_abi.Plan,
    "tutti_backend": tutti_abi.Table,
}


def mirrored():
    lines = []
    for name, mirror in MIRRORS.items():
        lines.append(f"{name} {ctypes.sizeof(mirror)}")
        for field, *_ in mirror._fields_:
            place = getattr(mirror, field)
            lines.append(f"{name}.{field} {place.offset} {place.size}")
    return lines


expected = subprocess.run(
    [sys.argv[1]], capture_output=True, text=True, check=True, timeout=60
).stdout.splitlines()
found = mirrored()
differences = [
    f"backend.h: {one or '-'}   tutti_abi.py: {other or '-'}"
    for one, other in zip(
        expected + [""] * (len(found) - len(expected)), found + [""] * (len(expected) - len(found))
    )
    if one != other
]
assert len(expected) > 70, expected
print("\n".join(differences) or f"{len(found)} structures and fields agree")
sys.exit(1 if differences else 0)
