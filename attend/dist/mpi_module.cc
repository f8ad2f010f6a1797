// The library libattend_mpi.so: thin calls of MPI, without anything of ours but their table.
#include <mpi.h>

#include <cstdio>
#include <memory>

#include "attend/dist/mpi_calls.h"

namespace attend::dist {
namespace {

MPI_Comm all = MPI_COMM_NULL;  // messages of our own, whatever else the process may send

int begin(int* rank, int* size) {
  int given = 0;
  if (const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given)) return code;
  if (const int code = MPI_Comm_dup(MPI_COMM_WORLD, &all)) return code;
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Comm_rank(all, rank);
  MPI_Comm_size(all, size);
  return 0;
}

/// Starts something and hands out its request.
template <class Start>
int started(void** handle, Start&& start) {
  auto request = std::make_unique<MPI_Request>(MPI_REQUEST_NULL);
  const int code = start(request.get());
  *handle = request.release();
  return code;
}

int send(const void* bytes, int count, int to, int tag, void** request) {
  return started(request, [&](MPI_Request* r) { return MPI_Isend(bytes, count, MPI_BYTE, to, tag, all, r); });
}

int receive(void* bytes, int count, int from, int tag, void** request) {
  return started(request, [&](MPI_Request* r) { return MPI_Irecv(bytes, count, MPI_BYTE, from, tag, all, r); });
}

int broadcast(void* bytes, int count, int from, void** request) {
  return started(request, [&](MPI_Request* r) { return MPI_Ibcast(bytes, count, MPI_BYTE, from, all, r); });
}

int gather(const void* mine, int count, void* whole, const int* counts, const int* offsets, void** request) {
  return started(request, [&](MPI_Request* r) {
    return MPI_Iallgatherv(mine, count, MPI_BYTE, whole, counts, offsets, MPI_BYTE, all, r);
  });
}

int test(void* handle, int* done) {
  auto* request = static_cast<MPI_Request*>(handle);
  const int code = MPI_Test(request, done, MPI_STATUS_IGNORE);
  if (*done) delete request;
  return code;
}

void describe(int code, char* text, int size) {
  char long_enough[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, long_enough, &length);
  std::snprintf(text, static_cast<size_t>(size), "%s", long_enough);
}

void end() { MPI_Finalize(); }

constexpr MpiCalls kCalls{begin, send, receive, broadcast, gather, test, describe, end};

}  // namespace
}  // namespace attend::dist

extern "C" const attend::dist::MpiCalls* attend_mpi_calls();
extern "C" const attend::dist::MpiCalls* attend_mpi_calls() { return &attend::dist::kCalls; }
