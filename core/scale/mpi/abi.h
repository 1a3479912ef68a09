// The binary interface of MPI libraries. There are three, which differ in handles and constants; all functions are the
// same. A handle of any of them fits 64 bits: a pointer, or an int in the lower half.
#pragma once

#include <cstdint>
#include <string>

#include "base/shared_library.h"
#include "ops/world_collectives.h"

namespace thunder::scale::mpi {

using Handle = uint64_t;  // of a communicator, datatype, op, request or error handler

struct Functions {
  int (*Initialized)(int*);
  int (*Finalized)(int*);
  int (*Init_thread)(int*, char***, int, int*);
  int (*Query_thread)(int*);
  int (*Finalize)();
  int (*Get_library_version)(char*, int*);
  int (*Error_string)(int, char*, int*);
  int (*Comm_rank)(Handle, int*);
  int (*Comm_size)(Handle, int*);
  int (*Comm_dup)(Handle, Handle*);
  int (*Comm_split)(Handle, int, int, Handle*);
  int (*Comm_free)(Handle*);
  int (*Comm_set_errhandler)(Handle, Handle);
  int (*Iallreduce)(const void*, void*, int, Handle, Handle, Handle, Handle*);
  int (*Iallgather)(const void*, int, Handle, void*, int, Handle, Handle, Handle*);
  int (*Ialltoall)(const void*, int, Handle, void*, int, Handle, Handle, Handle*);
  int (*Ireduce_scatter_block)(const void*, void*, int, Handle, Handle, Handle, Handle*);
  int (*Ibcast)(void*, int, Handle, int, Handle, Handle*);
  int (*Isend)(const void*, int, Handle, int, int, Handle, Handle*);
  int (*Irecv)(void*, int, Handle, int, int, Handle, Handle*);
  int (*Test)(Handle*, int*, void*);
  int (*Cancel)(Handle*);
  int (*Request_free)(Handle*);
};

struct Constants {
  Handle world, errors_return;
  void* status_ignore;
  int thread_multiple, any_source;
  Handle sum, max, min;
  Handle i8, u8, i16, u16, i32, u32, i64, u64, f32, f64;

  Handle reduction(RankReduction r) const;
  // Of booleans and bytes u8; 0: it has none.
  Handle dtype(DType d) const;
};

struct Library {
  Functions call{};
  Constants constants{};
  std::string version, file;  // the first line of what the library says of itself
};

// Opens the MPI library: one that the process has already, of THUNDER_MPI, or by the names of all three interfaces,
// those of the launcher first. Throws not_found with every name tried, and unimplemented where it is none of the three.
Library open_library(const std::string& launcher);

}  // namespace thunder::scale::mpi
