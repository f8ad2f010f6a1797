// What the program calls of Open MPI. Only mpi_module.cc includes <mpi.h>: it becomes a library of its own, which is loaded where
// mpirun has started the program, so that it needs no Open MPI otherwise and starts no slower.
#pragma once

namespace attend::dist {

/// Each returns 0, or a code to `describe`.
struct MpiCalls {
  int (*begin)(int* rank, int* size);
  int (*send)(const void* bytes, int count, int to, int tag, void** request);
  int (*receive)(void* bytes, int count, int from, int tag, void** request);
  int (*broadcast)(void* bytes, int count, int from, void** request);
  int (*gather)(const void* mine, int count, void* all, const int* counts, const int* offsets, void** request);
  /// Whether it is done; then the request is gone.
  int (*test)(void* request, int* done);
  void (*describe)(int code, char* text, int size);
  void (*end)();
};

/// "attend_mpi_calls" of the module.
using MpiCallsOfModule = const MpiCalls* (*)();
inline constexpr const char* kMpiModule = "libattend_mpi.so";

}  // namespace attend::dist
