"""backends/backend.h in ctypes, constant by constant and structure by structure, in its order.

test/layout_test.py of backends/example_python compares the structures with those of the header.
"""

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_int,
    c_int32,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)

ABI_VERSION = 1
OK, UNSUPPORTED, ERROR, PEER_FAILED, TIMED_OUT, ABORTED, NOT_INSTALLED = range(7)
(
    INT8,
    UINT8,
    INT32,
    UINT32,
    INT64,
    UINT64,
    FLOAT16,
    BFLOAT16,
    FLOAT32,
    FLOAT64,
    FLOAT8_E4M3,
    FLOAT8_E5M2,
) = range(12)
SUM, PROD, MIN, MAX, AVG = range(5)
ALLREDUCE = 0
MEMORY_HOST, MEMORY_CUDA = 1, 2
HANDLE_CUDA_IPC, HANDLE_POSIX, HANDLE_FABRIC = 1, 2, 4
PLAN_PATH, PLAN_REFUSED, PLAN_UNKNOWN = range(3)


class RankFacts(Structure):
    _fields_ = [
        ("host", c_char_p),
        ("device", c_char_p),
        ("device_name", c_char_p),
        ("device_index", c_int32),
        ("visible_devices", c_int32),
        ("capability_major", c_int32),
        ("capability_minor", c_int32),
        ("memory_bytes", c_uint64),
        ("shared_memory_bytes", c_uint64),
        ("handles", c_uint32),
        ("multicast", c_int32),
        ("peer_access", POINTER(c_uint8)),
        ("nvlinks", POINTER(c_uint8)),
        ("pcie", POINTER(c_uint8)),
    ]


class Facts(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("world", c_int32),
        ("ranks", POINTER(RankFacts)),
        ("driver", c_char_p),
    ]


class MemoryHandle(Structure):
    _fields_ = [("bytes", c_uint8 * 128)]


Work = CFUNCTYPE(None, c_void_p)


class DeviceTable(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("kind", c_uint32),
        ("self", c_void_p),
        ("allocate", CFUNCTYPE(c_int, c_void_p, c_size_t, POINTER(c_void_p))),
        ("release", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("allocate_staging", CFUNCTYPE(c_int, c_void_p, c_size_t, POINTER(c_void_p))),
        ("release_staging", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("copy", CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p)),
        ("fill", CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_size_t, c_void_p)),
        ("enqueue", CFUNCTYPE(c_int, c_void_p, c_void_p, Work, c_void_p)),
        ("stream_create", CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p))),
        ("stream_destroy", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("stream_synchronize", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("stream_query", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("event_create", CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p))),
        ("event_destroy", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("event_record", CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)),
        ("event_wait", CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)),
        ("export_memory", CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(MemoryHandle))),
        (
            "import_memory",
            CFUNCTYPE(c_int, c_void_p, POINTER(MemoryHandle), c_int, POINTER(c_void_p)),
        ),
        ("close_memory", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("error_name", CFUNCTYPE(c_char_p, c_void_p, c_int)),
    ]


class WorldTable(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("rank", c_int32),
        ("world", c_int32),
        ("local_rank", c_int32),
        ("local_size", c_int32),
        ("facts", POINTER(Facts)),
        ("device", POINTER(DeviceTable)),
        ("deadline_ms", c_uint64),
        ("exchange", CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_size_t)),
        ("log", CFUNCTYPE(None, c_void_p, c_char_p)),
        ("self", c_void_p),
    ]


class Request(Structure):
    """send, recv and stream are addresses, None for 0; path is bytes or None."""

    _fields_ = [
        ("size", c_uint32),
        ("collective", c_int),
        ("send", c_void_p),
        ("recv", c_void_p),
        ("count", c_uint64),
        ("dtype", c_int),
        ("op", c_int),
        ("stream", c_void_p),
        ("path", c_char_p),
        ("extension", c_void_p),
    ]


class Plan(Structure):
    _fields_ = [("size", c_uint32), ("answer", c_int), ("text", c_char * 240)]


# A function that returns text returns an address: ctypes would free a bytes object too early.
Text = CFUNCTYPE(c_void_p)
Status = CFUNCTYPE(c_int, c_void_p)


class Table(Structure):
    _fields_ = [
        ("size", c_uint32),
        ("abi_version", c_uint32),
        ("name", c_char_p),
        ("memory", c_uint32),
        ("paths", POINTER(c_char_p)),
        ("version", Text),
        ("plan", CFUNCTYPE(c_int, POINTER(Facts), c_int32, POINTER(Request), POINTER(Plan))),
        ("create", CFUNCTYPE(c_int, POINTER(WorldTable), POINTER(c_void_p))),
        ("run", CFUNCTYPE(c_int, c_void_p, POINTER(Request), POINTER(c_void_p))),
        ("poll_error", Status),
        ("abort", Status),
        ("destroy", Status),
        ("reason", CFUNCTYPE(c_void_p, c_void_p)),
        ("allocate", CFUNCTYPE(c_int, c_void_p, c_size_t, POINTER(c_void_p))),
        ("free_buffer", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("register_buffer", CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)),
    ]
