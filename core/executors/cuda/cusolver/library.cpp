#include "executors/cuda/cusolver/library.h"

#include <array>

#include "device/cuda/opened.h"

namespace thunder::cusolver {
namespace {

#define THUNDER_CUSOLVER_OPEN(member, symbol) \
  if (!file.find(symbol, member)) return symbol;

const char* resolve_solver_symbols(const SharedLibrary& file, Solver& s) {
  THUNDER_CUSOLVER_OPEN(s.create, "cusolverDnCreate")
  THUNDER_CUSOLVER_OPEN(s.destroy, "cusolverDnDestroy")
  THUNDER_CUSOLVER_OPEN(s.set_stream, "cusolverDnSetStream")
  THUNDER_CUSOLVER_OPEN(s.create_jacobi, "cusolverDnCreateGesvdjInfo")
  THUNDER_CUSOLVER_OPEN(s.destroy_jacobi, "cusolverDnDestroyGesvdjInfo")
  THUNDER_CUSOLVER_OPEN(s.version, "cusolverGetVersion")
#define THUNDER_CUSOLVER_FIND(member, symbol, parameters)         \
  THUNDER_CUSOLVER_OPEN(s.f32.member, "cusolverDnS" #symbol) \
  THUNDER_CUSOLVER_OPEN(s.f64.member, "cusolverDnD" #symbol)
  THUNDER_CUSOLVER(THUNDER_CUSOLVER_FIND)
#undef THUNDER_CUSOLVER_FIND
  return nullptr;
}
const char* resolve_blas_symbols(const SharedLibrary& file, Blas& b) {
  THUNDER_CUSOLVER_OPEN(b.create, "cublasCreate_v2")
  THUNDER_CUSOLVER_OPEN(b.destroy, "cublasDestroy_v2")
  THUNDER_CUSOLVER_OPEN(b.set_stream, "cublasSetStream_v2")
#define THUNDER_CUBLAS_FIND(member, symbol, parameters)       \
  THUNDER_CUSOLVER_OPEN(b.f32.member, "cublasS" #symbol) \
  THUNDER_CUSOLVER_OPEN(b.f64.member, "cublasD" #symbol)
  THUNDER_CUBLAS(THUNDER_CUBLAS_FIND)
#undef THUNDER_CUBLAS_FIND
  return nullptr;
}
#undef THUNDER_CUSOLVER_OPEN

// cuSOLVER's versions are numbers like 12004.
std::string version_of_solver(const Solver& s, std::string&) {
  int version = 0;
  return s.version(&version) ? "of unknown version"
                             : cat(version / 1000, ".", version % 1000 / 100, ".", version % 100);
}
std::string no_version(const Blas&, std::string&) { return "of cuSOLVER"; }

const nvidia::OpenedTable<Solver>& opened_solver() {
  static constexpr std::array kNames = {"libcusolver.so.12", "libcusolver.so.11"};
  static const nvidia::OpenedTable<Solver> once({"THUNDER_CUSOLVER", kNames}, resolve_solver_symbols,
                                                version_of_solver);
  return once;
}
const nvidia::OpenedTable<Blas>& opened_blas() {
  static constexpr std::array kNames = {"libcublas.so.13", "libcublas.so.12"};
  static const nvidia::OpenedTable<Blas> once({"THUNDER_CUBLAS", kNames}, resolve_blas_symbols, no_version);
  return once;
}

}  // namespace

const Library* Library::open(std::string& why) {
  static const Library both = [] {
    std::string ignored;
    return Library{opened_solver().open(ignored), opened_blas().open(ignored)};
  }();
  if (both.solver && both.blas) return &both;
  if (!both.solver) opened_solver().open(why);
  else opened_blas().open(why);
  return nullptr;
}

const std::string& Library::report() { return opened_solver().report(); }

}  // namespace thunder::cusolver
