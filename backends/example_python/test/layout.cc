// Prints where the fields of backend.h's structures lie, for layout_test.py to compare with its
// Python mirror: "structure size", then "structure.field offset size".
#include <cstddef>
#include <cstdio>

#include "backends/backend.h"

#define STRUCTURE(type) std::printf(#type " %zu\n", sizeof(type))
#define FIELD(type, field) \
  std::printf(#type "." #field " %zu %zu\n", offsetof(type, field), sizeof(type::field))

static void print_facts() {
  STRUCTURE(tutti_rank_facts);
  FIELD(tutti_rank_facts, host);
  FIELD(tutti_rank_facts, device);
  FIELD(tutti_rank_facts, device_name);
  FIELD(tutti_rank_facts, device_index);
  FIELD(tutti_rank_facts, visible_devices);
  FIELD(tutti_rank_facts, capability_major);
  FIELD(tutti_rank_facts, capability_minor);
  FIELD(tutti_rank_facts, memory_bytes);
  FIELD(tutti_rank_facts, shared_memory_bytes);
  FIELD(tutti_rank_facts, handles);
  FIELD(tutti_rank_facts, multicast);
  FIELD(tutti_rank_facts, peer_access);
  FIELD(tutti_rank_facts, nvlinks);
  FIELD(tutti_rank_facts, pcie);
  STRUCTURE(tutti_facts);
  FIELD(tutti_facts, size);
  FIELD(tutti_facts, world);
  FIELD(tutti_facts, ranks);
  FIELD(tutti_facts, driver);
  STRUCTURE(tutti_memory_handle);
  FIELD(tutti_memory_handle, bytes);
}

static void print_device() {
  STRUCTURE(tutti_device);
  FIELD(tutti_device, size);
  FIELD(tutti_device, kind);
  FIELD(tutti_device, self);
  FIELD(tutti_device, allocate);
  FIELD(tutti_device, release);
  FIELD(tutti_device, allocate_staging);
  FIELD(tutti_device, release_staging);
  FIELD(tutti_device, copy);
  FIELD(tutti_device, fill);
  FIELD(tutti_device, enqueue);
  FIELD(tutti_device, stream_create);
  FIELD(tutti_device, stream_destroy);
  FIELD(tutti_device, stream_synchronize);
  FIELD(tutti_device, stream_query);
  FIELD(tutti_device, event_create);
  FIELD(tutti_device, event_destroy);
  FIELD(tutti_device, event_record);
  FIELD(tutti_device, event_wait);
  FIELD(tutti_device, export_memory);
  FIELD(tutti_device, import_memory);
  FIELD(tutti_device, close_memory);
  FIELD(tutti_device, error_name);
}

static void print_world_and_request() {
  STRUCTURE(tutti_world);
  FIELD(tutti_world, size);
  FIELD(tutti_world, rank);
  FIELD(tutti_world, world);
  FIELD(tutti_world, local_rank);
  FIELD(tutti_world, local_size);
  FIELD(tutti_world, facts);
  FIELD(tutti_world, device);
  FIELD(tutti_world, deadline_ms);
  FIELD(tutti_world, exchange);
  FIELD(tutti_world, log);
  FIELD(tutti_world, self);
  STRUCTURE(tutti_request);
  FIELD(tutti_request, size);
  FIELD(tutti_request, collective);
  FIELD(tutti_request, send);
  FIELD(tutti_request, recv);
  FIELD(tutti_request, count);
  FIELD(tutti_request, dtype);
  FIELD(tutti_request, op);
  FIELD(tutti_request, stream);
  FIELD(tutti_request, path);
  FIELD(tutti_request, extension);
  STRUCTURE(tutti_plan);
  FIELD(tutti_plan, size);
  FIELD(tutti_plan, answer);
  FIELD(tutti_plan, text);
}

static void print_backend() {
  STRUCTURE(tutti_backend);
  FIELD(tutti_backend, size);
  FIELD(tutti_backend, abi_version);
  FIELD(tutti_backend, name);
  FIELD(tutti_backend, memory);
  FIELD(tutti_backend, paths);
  FIELD(tutti_backend, version);
  FIELD(tutti_backend, plan);
  FIELD(tutti_backend, create);
  FIELD(tutti_backend, run);
  FIELD(tutti_backend, poll_error);
  FIELD(tutti_backend, abort);
  FIELD(tutti_backend, destroy);
  FIELD(tutti_backend, reason);
  FIELD(tutti_backend, allocate);
  FIELD(tutti_backend, free_buffer);
  FIELD(tutti_backend, register_buffer);
}

int main() {
  print_facts();
  print_device();
  print_world_and_request();
  print_backend();
}
