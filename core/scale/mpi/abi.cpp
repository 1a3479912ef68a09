#include "scale/mpi/abi.h"

#include <dlfcn.h>

#include <array>

#include "base/text.h"

namespace thunder::scale::mpi {
namespace {

constexpr const char* kOpenMpi[] = {"libmpi.so.40"};
constexpr const char* kMpich[] = {"libmpi.so.12", "libmpich.so.12"};
constexpr const char* kStandard[] = {"libmpi_abi.so.1"};

std::vector<const char*> names(const std::string& launcher) {
  std::vector<const char*> all;
  const auto add = [&](auto& list) { all.insert(all.end(), std::begin(list), std::end(list)); };
  if (launcher == "Open MPI")
    add(kOpenMpi), add(kStandard), add(kMpich);
  else
    add(kMpich), add(kStandard), add(kOpenMpi);
  return all;
}

// Two MPI libraries in one process would be two worlds.
const char* find_loaded(const std::vector<const char*>& all) {
  for (const char* name : all)
    if (void* handle = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return ::dlclose(handle), name;
  return nullptr;
}

Constants mpich_constants() {
  return {.world = 0x44000000,
          .errors_return = 0x54000001,
          .status_ignore = reinterpret_cast<void*>(1),
          .thread_multiple = 3,
          .any_source = -2,
          .sum = 0x58000003,
          .max = 0x58000001,
          .min = 0x58000002,
          .i8 = 0x4c000137,
          .u8 = 0x4c00013b,
          .i16 = 0x4c000238,
          .u16 = 0x4c00023c,
          .i32 = 0x4c000439,
          .u32 = 0x4c00043d,
          .i64 = 0x4c00083a,
          .u64 = 0x4c00083e,
          .f32 = 0x4c00040a,
          .f64 = 0x4c00080b};
}

Constants standard_constants() {
  return {.world = 0x101,
          .errors_return = 0x143,
          .status_ignore = nullptr,
          .thread_multiple = 4096,
          .any_source = -1,
          .sum = 0x21,
          .max = 0x23,
          .min = 0x22,
          .i8 = 0x240,
          .u8 = 0x241,
          .i16 = 0x248,
          .u16 = 0x249,
          .i32 = 0x250,
          .u32 = 0x251,
          .i64 = 0x258,
          .u64 = 0x259,
          .f32 = 0x210,
          .f64 = 0x214};
}

Constants open_mpi_constants(const SharedLibrary& library) {
  const auto at = [&](const char* name) {
    const auto address = reinterpret_cast<Handle>(library.find(name));
    if (!address) fail(Code::unimplemented, "mpi: ", library.path(), " has no ", name);
    return address;
  };
  return {.world = at("ompi_mpi_comm_world"),
          .errors_return = at("ompi_mpi_errors_return"),
          .status_ignore = nullptr,
          .thread_multiple = 3,
          .any_source = -1,
          .sum = at("ompi_mpi_op_sum"),
          .max = at("ompi_mpi_op_max"),
          .min = at("ompi_mpi_op_min"),
          .i8 = at("ompi_mpi_int8_t"),
          .u8 = at("ompi_mpi_uint8_t"),
          .i16 = at("ompi_mpi_int16_t"),
          .u16 = at("ompi_mpi_uint16_t"),
          .i32 = at("ompi_mpi_int32_t"),
          .u32 = at("ompi_mpi_uint32_t"),
          .i64 = at("ompi_mpi_int64_t"),
          .u64 = at("ompi_mpi_uint64_t"),
          .f32 = at("ompi_mpi_float"),
          .f64 = at("ompi_mpi_double")};
}

// Of libraries that Open MPI made the predefined handles are addresses, unless the library is of the standard
// interface.
Constants constants_of(const SharedLibrary& library, std::string_view version) {
  if (library.path().find("libmpi_abi.so") != std::string::npos) return standard_constants();
  if (library.find("ompi_mpi_comm_world")) return open_mpi_constants(library);
  if (version.find("MPICH") != version.npos || version.find("Intel") != version.npos) return mpich_constants();
  fail(Code::unimplemented, "mpi: ", library.path(),
       " is neither Open MPI, MPICH nor of the standard interface: ", version);
}

std::string version_of(const Functions& call) {
  std::array<char, 8192> text{};
  int length = 0;
  call.Get_library_version(text.data(), &length);
  const std::string all(text.data());
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace

Handle Constants::reduction(RankReduction r) const {
  return r == RankReduction::sum ? sum : r == RankReduction::max ? max : min;
}

Handle Constants::dtype(DType d) const {
  switch (d) {
    case DType::i8:
      return i8;
    case DType::boolean:
    case DType::u8:
      return u8;
    case DType::i16:
      return i16;
    case DType::u16:
      return u16;
    case DType::i32:
      return i32;
    case DType::u32:
      return u32;
    case DType::i64:
      return i64;
    case DType::u64:
      return u64;
    case DType::f32:
      return f32;
    case DType::f64:
      return f64;
    default:
      return 0;
  }
}

Library open_library(const std::string& launcher) {
  std::vector<const char*> all = names(launcher);
  if (const char* loaded = find_loaded(all)) all = {loaded};
  const SharedLibrary opened({"THUNDER_MPI", all});
  if (!opened.opened()) fail(Code::not_found, "mpi: ", opened.report());
  Library library;
  library.file = opened.path();
  Functions& f = library.call;
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    if (!opened.find(name, function)) missing = name;
  };
  find("MPI_Initialized", f.Initialized), find("MPI_Finalized", f.Finalized);
  find("MPI_Init_thread", f.Init_thread), find("MPI_Query_thread", f.Query_thread), find("MPI_Finalize", f.Finalize);
  find("MPI_Get_library_version", f.Get_library_version), find("MPI_Error_string", f.Error_string);
  find("MPI_Comm_rank", f.Comm_rank), find("MPI_Comm_size", f.Comm_size), find("MPI_Comm_dup", f.Comm_dup);
  find("MPI_Comm_split", f.Comm_split), find("MPI_Comm_free", f.Comm_free);
  find("MPI_Comm_set_errhandler", f.Comm_set_errhandler), find("MPI_Iallreduce", f.Iallreduce);
  find("MPI_Iallgather", f.Iallgather), find("MPI_Ialltoall", f.Ialltoall);
  find("MPI_Ireduce_scatter_block", f.Ireduce_scatter_block);
  find("MPI_Ibcast", f.Ibcast), find("MPI_Isend", f.Isend), find("MPI_Irecv", f.Irecv), find("MPI_Test", f.Test);
  find("MPI_Cancel", f.Cancel), find("MPI_Request_free", f.Request_free);
  if (missing) fail(Code::unimplemented, "mpi: ", library.file, " has no ", missing);
  library.version = version_of(f);
  library.constants = constants_of(opened, library.version);
  return library;
}

}  // namespace thunder::scale::mpi
