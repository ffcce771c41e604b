/* The contract between tutti and an allreduce backend. C, ABI version 1: this page is all that a
 * third party needs.
 *
 * A plugin is a shared library that exports one function,
 *
 *     const tutti_backend *tutti_plugin(void);
 *
 * which returns a table with static lifetime. A program that hosts its backend itself (a Python
 * interpreter, say) fills the same table and calls tutti_worker_serve() (backends/worker/worker.h).
 *
 * Threads: all functions of a table are called from one thread, except `abort`, which may be called
 * from another thread while `run` is executing or a stream is being waited for. `exchange` may only
 * be called from that one thread, inside the functions that may use it; `log` from any thread. No
 * function may end the process or leave by a C++ exception (the worker survives the latter, and
 * both are reported as a crash). Every wait must be bounded by world.deadline_ms.
 *
 * Signals: SIGPIPE is ignored in tutti's workers, as in Python, which hosts most of these
 * libraries; a write to a peer that has gone fails with EPIPE.
 *
 * Sizes: the first member of a structure is its size in bytes, set by whoever makes the structure:
 * by the backend in tutti_backend, by tutti in all others, tutti_plan included. Enumerations take 4
 * bytes, which is checked below. They are not used as bit sets.
 *
 * Strings that a backend returns stay valid until the next call on the same communicator. Strings
 * and arrays that tutti passes in stay valid until `destroy` returns, a tutti_request only during
 * the call: work that `run` enqueues needs a copy of it.
 */
#ifndef TUTTI_BACKEND_H
#define TUTTI_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_ABI_VERSION 1u

/* What a call came to. */
typedef enum tutti_status {
  TUTTI_OK = 0,
  TUTTI_UNSUPPORTED =
      1,           /* graceful: nothing was touched, the communicator stays usable; see `reason` */
  TUTTI_ERROR = 2, /* failed at once; see `reason` */
  TUTTI_PEER_FAILED = 3,  /* another rank failed or left */
  TUTTI_TIMED_OUT = 4,    /* a bounded wait ran out */
  TUTTI_ABORTED = 5,      /* `abort` was called */
  TUTTI_NOT_INSTALLED = 6 /* from `create` only: the library under test is not on this machine;
                             `reason` says how to get it */
} tutti_status;

/* Element types. Sizes in bytes: 1 1 4 4 8 8 2 2 4 8 1 1. */
typedef enum tutti_dtype {
  TUTTI_INT8 = 0,
  TUTTI_UINT8 = 1,
  TUTTI_INT32 = 2,
  TUTTI_UINT32 = 3,
  TUTTI_INT64 = 4,
  TUTTI_UINT64 = 5,
  TUTTI_FLOAT16 = 6,
  TUTTI_BFLOAT16 = 7,
  TUTTI_FLOAT32 = 8,
  TUTTI_FLOAT64 = 9,
  TUTTI_FLOAT8_E4M3 = 10,
  TUTTI_FLOAT8_E5M2 = 11
} tutti_dtype;

typedef enum tutti_op {
  TUTTI_SUM = 0,
  TUTTI_PROD = 1,
  TUTTI_MIN = 2,
  TUTTI_MAX = 3,
  TUTTI_AVG = 4
} tutti_op;

typedef enum tutti_collective { TUTTI_ALLREDUCE = 0 } tutti_collective;

typedef enum tutti_answer {
  TUTTI_PLAN_PATH = 0,
  TUTTI_PLAN_REFUSED = 1,
  TUTTI_PLAN_UNKNOWN = 2
} tutti_answer;

/* A compiler option such as -fshort-enums would make another layout of it. */
#ifdef __cplusplus
#define TUTTI_ENUM_TAKES_4_BYTES(type) static_assert(sizeof(type) == 4, #type)
#else
#define TUTTI_ENUM_TAKES_4_BYTES(type) _Static_assert(sizeof(type) == 4, #type)
#endif
TUTTI_ENUM_TAKES_4_BYTES(tutti_status);
TUTTI_ENUM_TAKES_4_BYTES(tutti_dtype);
TUTTI_ENUM_TAKES_4_BYTES(tutti_op);
TUTTI_ENUM_TAKES_4_BYTES(tutti_collective);
TUTTI_ENUM_TAKES_4_BYTES(tutti_answer);
#undef TUTTI_ENUM_TAKES_4_BYTES

/* Kinds of memory and of device, usable as a bit set. */
#define TUTTI_MEMORY_HOST 1u
#define TUTTI_MEMORY_CUDA 2u

/* ---- Facts: what a rank is told about the machine ---- */

/* How memory of a device can be given to another process, usable as a bit set: by CUDA IPC, by a
 * POSIX file descriptor, by a handle that is valid all over an NVLink fabric. */
#define TUTTI_HANDLE_CUDA_IPC 1u
#define TUTTI_HANDLE_POSIX 2u
#define TUTTI_HANDLE_FABRIC 4u

/* How far PCIe goes from one device to another, the nearest first. Behind each what nvidia-smi topo
 * calls it. */
#define TUTTI_PCIE_UNKNOWN 0u  /* or none: on another host */
#define TUTTI_PCIE_SAME 1u     /* the device itself */
#define TUTTI_PCIE_SWITCH 2u   /* PIX: one switch */
#define TUTTI_PCIE_SWITCHES 3u /* PXB: several switches */
#define TUTTI_PCIE_BRIDGE 4u   /* PHB: a host bridge */
#define TUTTI_PCIE_NODE 5u     /* NODE: host bridges of one NUMA node */
#define TUTTI_PCIE_SYSTEM 6u   /* SYS: between NUMA nodes */

/* One rank's device and links. Arrays have `world` entries, indexed by peer rank; entry [own rank]
 * is 1. */
typedef struct tutti_rank_facts {
  const char *host;   /* ranks with equal text share a host (shared memory, /proc) */
  const char *device; /* ranks with equal text share one device; on CUDA its UUID */
  const char *device_name;
  int32_t device_index;     /* ordinal among the devices that this rank sees */
  int32_t visible_devices;  /* how many it sees: 1 where each rank is shown its own only */
  int32_t capability_major; /* compute capability; 0.0 for a CPU */
  int32_t capability_minor;
  uint64_t memory_bytes;
  uint64_t shared_memory_bytes; /* size of /dev/shm where this rank runs; 0: not known */
  uint32_t handles;             /* TUTTI_HANDLE_* that memory of the device can be exported by */
  int32_t multicast;            /* 1: the device can be bound to a multicast object */
  const uint8_t *peer_access;   /* [q] = 1: this rank may import memory of rank q */
  const uint8_t *nvlinks;       /* [q] = number of NVLinks towards the device of rank q */
  const uint8_t *pcie;          /* [q] = TUTTI_PCIE_* towards the device of rank q */
} tutti_rank_facts;

typedef struct tutti_facts {
  uint32_t size;                 /* sizeof(tutti_facts) */
  int32_t world;                 /* number of ranks */
  const tutti_rank_facts *ranks; /* `world` entries */
  const char *driver;            /* driver version, "" when there is none */
} tutti_facts;

/* ---- Device services ---- */

/* Enough to name memory of one process in another; opaque, may be sent through `exchange`. */
typedef struct tutti_memory_handle {
  uint8_t bytes[128];
} tutti_memory_handle;

/* A device, simulated (kind HOST) or real (kind CUDA). Functions return 0 or an error code with
 * CUDA's numbers, also on the simulated device: 2 memory allocation, 1 invalid value, 201 invalid
 * context, 217 peer access unsupported, ... `stream` is what tutti_request.stream holds; operations
 * with a stream are ordered on it and return before they are done; those without are done when they
 * return. On kind CUDA a stream is a cudaStream_t and memory is what cudaMalloc returns. On kind
 * HOST memory is plain memory, and a stream is a thread that works off what was enqueued.
 *
 * A backend of HOST memory on a CUDA device is staged: send and recv are page-locked host memory,
 * and tutti copies to and from the device on request.stream before and after the call. So the input
 * is there only once the stream gets to what `run` enqueued, and the result is taken when that has
 * returned. All that changes is that the thread of `enqueue` is CUDA's (cudaLaunchHostFunc). */
typedef struct tutti_device {
  uint32_t size; /* sizeof(tutti_device) */
  uint32_t kind; /* TUTTI_MEMORY_HOST or TUTTI_MEMORY_CUDA */
  void *self;    /* first argument of all functions */

  int (*allocate)(void *self, size_t bytes,
                  void **memory); /* zero-filled, aligned to 256 bytes or more */
  int (*release)(void *self, void *memory);
  int (*allocate_staging)(
      void *self, size_t bytes,
      void **memory); /* host memory that `copy` can use (page-locked on CUDA) */
  int (*release_staging)(void *self, void *memory);

  int (*copy)(void *self, void *to, const void *from, size_t bytes,
              void *stream); /* any mixture of host and device memory */
  int (*fill)(void *self, void *memory, int byte, size_t bytes, void *stream);
  int (*enqueue)(void *self, void *stream, void (*work)(void *),
                 void *argument); /* runs `work` on the stream's thread, after what was enqueued
                                     before; it may block (for a limited time) and use memory that
                                     the CPU can reach, but none of these functions */

  int (*stream_create)(void *self, void **stream);
  int (*stream_destroy)(void *self, void *stream);
  int (*stream_synchronize)(void *self, void *stream);
  int (*stream_query)(void *self, void *stream); /* 0 done, 600 not ready, else an error */
  int (*event_create)(void *self, void **event);
  int (*event_destroy)(void *self, void *event);
  int (*event_record)(void *self, void *event, void *stream);
  int (*event_wait)(void *self, void *event,
                    void *stream); /* work enqueued on `stream` later waits for the event */

  int (*export_memory)(void *self, void *memory,
                       tutti_memory_handle *handle); /* memory from `allocate` only */
  int (*import_memory)(void *self, const tutti_memory_handle *handle, int peer_rank, void **memory);
  int (*close_memory)(void *self, void *memory);

  const char *(*error_name)(void *self,
                            int code); /* CUDA's name, such as "cudaErrorMemoryAllocation" */
} tutti_device;

/* ---- World ---- */

typedef struct tutti_world {
  uint32_t size; /* sizeof(tutti_world) */
  int32_t rank;
  int32_t world;
  int32_t local_rank; /* among the ranks of this host */
  int32_t local_size;
  const tutti_facts *facts;
  const tutti_device *device; /* this rank's */
  uint64_t deadline_ms;       /* no wait inside the backend may take longer */

  /* Allgather of `bytes` bytes from each rank into `received` (world * bytes, by rank), out of
   * band. All ranks call it in the same order with the same `bytes`; world * bytes is less than
   * 64 MiB, else TUTTI_ERROR. TUTTI_PEER_FAILED when a rank
   * died or left. Only during `create`, `register_buffer` and `destroy`. */
  tutti_status (*exchange)(void *self, const void *sent, void *received, size_t bytes);
  /* Keeps a line of text as evidence: it is shown when this rank's case turns red. */
  void (*log)(void *self, const char *line);
  void *self; /* first argument of `exchange` and `log` */
} tutti_world;

/* ---- Request ---- */

/* One collective call. `send` == `recv` means in place; otherwise they do not overlap. Both hold
 * `count` elements and are aligned to the element size only. `count` may be 0, and then the
 * pointers may not be used. */
typedef struct tutti_request {
  uint32_t size; /* sizeof(tutti_request) */
  tutti_collective collective;
  const void *send;
  void *recv;
  uint64_t count; /* elements */
  tutti_dtype dtype;
  tutti_op op;
  void *stream;     /* of world.device */
  const char *path; /* the path asked for, one of tutti_backend.paths; NULL: the backend chooses */
  const void *extension; /* fused forms, NULL today */
} tutti_request;

typedef struct tutti_plan {
  uint32_t size; /* sizeof(tutti_plan), set by tutti; the backend fills in the rest */
  tutti_answer answer;
  char text[240]; /* the path's name, or the reason of the refusal; always terminated */
} tutti_plan;

/* ---- The table ---- */

typedef struct tutti_backend {
  uint32_t size;        /* sizeof(tutti_backend) */
  uint32_t abi_version; /* TUTTI_ABI_VERSION */
  const char *name;     /* the folder's name */
  uint32_t memory; /* kinds of memory it takes: TUTTI_MEMORY_* or'ed. HOST alone on a CUDA device:
                      tutti stages (see tutti_device) */
  const char *const *paths; /* names of all its paths, ended by NULL; at least one */

  /* Version of the library under test, such as "2.28.9"; "" when it cannot be had. */
  const char *(*version)(void);

  /* Pure: what `run` will do for (facts, rank, request), without peers or a communicator, callable
   * at any time and from any thread; send, recv and stream of the request are only looked at for
   * alignment and for being equal. TUTTI_PLAN_UNKNOWN for a library that cannot be asked. Anything
   * but TUTTI_OK means that `plan` itself failed. */
  tutti_status (*plan)(const tutti_facts *facts, int32_t rank, const tutti_request *request,
                       tutti_plan *plan);

  /* Collective over all ranks of the world. On anything but TUTTI_OK no communicator exists, and
   * all ranks must come to the same answer (use `exchange`). */
  tutti_status (*create)(const tutti_world *world, void **communicator);

  /* Enqueues the collective on request->stream and returns. *path is set to the path taken when
   * TUTTI_OK, also for a count of 0. TUTTI_UNSUPPORTED: nothing was touched or enqueued, and every
   * rank says the same.
   * Calls on one communicator are made in the same order on all ranks. */
  tutti_status (*run)(void *communicator, const tutti_request *request, const char **path);

  /* What went wrong since the last call, after the work was enqueued; TUTTI_OK when nothing did.
   * Never blocks. */
  tutti_status (*poll_error)(void *communicator);

  /* Makes pending work of this rank end soon, with TUTTI_ABORTED from poll_error. Callable from
   * another thread. */
  tutti_status (*abort)(void *communicator);

  /* Frees everything, buffers included. Collective; the stream is idle, or was aborted: then
   * enqueued work may still be about to end. It may use `exchange` in any case, and must free
   * everything whatever that says: after a peer's death it says TUTTI_PEER_FAILED. What work that
   * does not end still uses is better left than freed (TUTTI_TIMED_OUT). The communicator
   * is gone whatever destroy returns, so a destroy that fails says why through world.log. */
  tutti_status (*destroy)(void *communicator);

  /* Why the last call that was not TUTTI_OK said so. `communicator` NULL: why the last `create`
   * failed. Never NULL. */
  const char *(*reason)(void *communicator);

  /* Optional, may be NULL (all three or none): buffers that must be the backend's own (registered
   * windows, symmetric memory). tutti then takes send and recv from `allocate` and calls
   * `register_buffer` once for each, collectively and in the same order on all ranks, before the
   * first `run` on it. The memory is of the kind of world.device.
   *
   * `allocate` is local. `free_buffer` is called in the same order on all ranks, when the stream is
   * idle or was aborted, before `destroy`; also for a buffer whose registration failed. It may wait
   * for peers as the library does, but not `exchange`. */
  tutti_status (*allocate)(void *communicator, size_t bytes, void **memory);
  tutti_status (*free_buffer)(void *communicator, void *memory);
  tutti_status (*register_buffer)(void *communicator, void *memory, size_t bytes);
} tutti_backend;

/* The one symbol that a plugin exports. */
const tutti_backend *tutti_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
