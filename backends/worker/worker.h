/* The worker runtime as a library (libtutti_worker.so): hosts one backend on behalf of a rank.
 *
 * The native worker (tutti-worker) loads a plugin and serves it. Any other program can do the same:
 * a Python interpreter loads the library with ctypes, fills a tutti_backend with its own functions,
 * and serves it.
 */
#ifndef TUTTI_WORKER_H
#define TUTTI_WORKER_H

#include "backends/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the table, then carries out what the rank asks until the rank hangs up. The socket to the
 * rank and two shared pages are inherited as file descriptors (the environment variable
 * TUTTI_WORKER_FDS names them). Returns 0 when the rank hung up, 2 when the table is bad or no rank
 * is there (a message on stderr says what). Call it from the main thread, once. The process is
 * killed when its rank dies. */
int tutti_worker_serve(const tutti_backend *backend);

/* The same on a thread of the rank itself, for --isolation none: no signal handlers, nothing kills
 * it. `descriptors` is what TUTTI_WORKER_FDS would hold, `world` the id that messages carry. */
int tutti_worker_serve_in_rank(const tutti_backend *backend, const char *descriptors,
                               unsigned world);

/* Loads a plugin; NULL when it cannot be used, and then `message` (always terminated) says why. It
 * stays loaded. */
const tutti_backend *tutti_load_plugin(const char *file, char *message, size_t message_bytes);

/* Returns 1 when a table is sound, else 0 with what is wrong in `message` (always terminated). */
int tutti_check_backend(const tutti_backend *backend, char *message, size_t message_bytes);

/* This machine as node JSON, read from CUDA and NVML; it lives until the next call. Makes a CUDA
 * context. */
const char *tutti_real_node(const char *library_folder);

/* How fast results are verified on "host" or "cuda", as JSON (verify_speed.h); it lives until the
 * next call. */
const char *tutti_verify_speed(const char *device_kind, const char *library_folder);

#ifdef __cplusplus
}
#endif
#endif
