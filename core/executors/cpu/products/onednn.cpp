#include "executors/cpu/products/onednn.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <tuple>

#include "base/signals.h"
#include "base/text.h"
#include "executors/cpu/isa/kernels.h"
#include "executors/cpu/products/thread_scratch.h"

namespace thunder {
namespace {

// dnnl_sgemm has had the same signature since version 1, so building needs no header of the library.
constexpr std::array kNames = {"libdnnl.so.2", "libdnnl.so.3"};

// The beginning of dnnl_version_t.
struct Version {
  int major, minor, patch;
};

template <class F>
bool find_symbol(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  return function != nullptr;
}

// dnnl_sgemm's description of a matrix: 'N' and its row stride, or 'T' and its column stride.
struct Leading {
  char transposed = 0;  // 0: neither rows nor columns are dense
  int64_t distance = 0;
};
Leading leading_dimension(const Matrix& m, int64_t rows, int64_t columns) {
  if ((m.column == 1 || columns == 1) && (m.row >= columns || rows == 1)) return {'N', std::max(m.row, columns)};
  if ((m.row == 1 || rows == 1) && (m.column >= rows || columns == 1)) return {'T', std::max(m.column, rows)};
  return {};
}

// Rows whose stride is a multiple of 512 bytes map to few sets of a cache. With AVX2 the library gathers narrow panels
// from many rows, suffers conflict misses for each panel, and takes twice the time; with AVX-512 it does not.
constexpr int64_t kConflictStride = 128;
constexpr int64_t kRows = 256, kColumns = 512, kDepth = 256;  // of a copied block, which fits into the L2 cache

// Whether the library would gather panels across such rows, given the operand in this form.
bool has_conflicting_rows(const Matrix& m, int64_t rows, int64_t columns, char transposed) {
  const Leading l = leading_dimension(m, rows, columns);
  return l.transposed == transposed && l.distance % kConflictStride == 0;
}

// Copies `depth` rows that are `distance` apart to rows one cache line further apart than they are long.
const float* copy_rows(const float* from, int64_t distance, int64_t depth, int64_t length, float* to) {
  for (int64_t l = 0; l < depth; l++) std::copy_n(from + l * distance, length, to + l * (length + kLineFloats));
  return to;
}

}  // namespace

std::span<const char* const> Library::names() { return kNames; }

bool Library::moves_stack(int major, int minor, int patch) {
  return std::tie(major, minor, patch) < std::tuple(3, 11, 2);
}

bool Library::resolve_symbols(void* handle, Instructions instructions, std::string& report) {
  const Version* (*version)() = nullptr;
  // The OpenMP library that oneDNN uses is looked up among its dependencies.
  if (!find_symbol(handle, "dnnl_version", version) || !find_symbol(handle, "dnnl_sgemm", sgemm_))
    report = "has no dnnl_sgemm";
  else if (!find_symbol(handle, "omp_get_max_threads", max_threads_) ||
           !find_symbol(handle, "omp_set_num_threads", set_threads_))
    report = "does not use OpenMP";
  else if (!kernels_for(instructions)) report = "is of no use on a processor without AVX2";
  else {
    instructions_ = instructions;
    const Version& v = *version();
    moves_stack_ = moves_stack(v.major, v.minor, v.patch);
    report = cat("oneDNN ", v.major, ".", v.minor, ".", v.patch, ", ", kernels_for(instructions)->name);
    return true;
  }
  return false;
}

const Library* Library::open(std::span<const char* const> names, const Machine& machine, std::string& report) {
  // One handle for the process, as if it were linked: its threads and generated code belong to the process anyway.
  static std::mutex mutex;
  static Library library;
  static std::string found;
  std::lock_guard lock(mutex);
  report.clear();
  for (const char* name : names) {
    void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) continue;
    if (Library opened; opened.resolve_symbols(handle, machine.instructions, report)) {
      if (found.empty()) library = opened, found = report;
      report = found;
      return &library;
    }
    report = cat(name, " ", report);
    dlclose(handle);
  }
  if (report.empty()) report = cat("none of ", join(names, ", ", [](const char* n) { return n; }), " can be opened");
  return nullptr;
}

bool Library::can_multiply(const Product& p) {
  return leading_dimension(p.a, p.m, p.k).transposed && leading_dimension(p.b, p.k, p.n).transposed;
}

bool Library::multiply(const Product& p) const {
  const bool has_conflict = instructions_ == Instructions::avx2 &&
                            (has_conflicting_rows(p.a, p.m, p.k, 'T') || has_conflicting_rows(p.b, p.k, p.n, 'N'));
  return has_conflict ? multiply_with_copies(p) : call_sgemm(p);
}

bool Library::call_sgemm(const Product& p) const {
  // Signals are blocked meanwhile; pending ones are delivered afterwards.
  std::optional<BlockedSignals> blocked;
  if (moves_stack_) blocked.emplace();
  const OneThread one(*this);
  const Leading a = leading_dimension(p.a, p.m, p.k), b = leading_dimension(p.b, p.k, p.n);
  return sgemm_(a.transposed, b.transposed, p.m, p.n, p.k, 1.0f, p.a.data, a.distance, p.b.data, b.distance,
                p.add ? 1.0f : 0.0f, p.c, std::max(p.c_row, p.n)) == 0;
}

// Copies conflicting rows to a buffer of this thread, in which rows are a cache line further apart.
bool Library::multiply_with_copies(const Product& p) const {
  struct Copies {
    float a[kDepth * (kRows + kLineFloats)], b[kDepth * (kColumns + kLineFloats)];
  };
  auto* const copies = thread_scratch<Copies>();
  if (!copies) return false;
  const bool a_conflicts = has_conflicting_rows(p.a, p.m, p.k, 'T'),
             b_conflicts = has_conflicting_rows(p.b, p.k, p.n, 'N');
  for (int64_t i = 0; i < p.m; i += kRows)
    for (int64_t j = 0; j < p.n; j += kColumns)
      for (int64_t l = 0; l < p.k; l += kDepth) {
        Product part{std::min(kRows, p.m - i),
                     std::min(kColumns, p.n - j),
                     std::min(kDepth, p.k - l),
                     p.a,
                     p.b,
                     p.c + i * p.c_row + j,
                     p.c_row,
                     p.add || l > 0};
        part.a.data += i * p.a.row + l * p.a.column;
        part.b.data += l * p.b.row + j * p.b.column;
        if (a_conflicts)
          part.a = {copy_rows(part.a.data, p.a.column, part.k, part.m, copies->a), 1, part.m + kLineFloats};
        if (b_conflicts)
          part.b = {copy_rows(part.b.data, p.b.row, part.k, part.n, copies->b), part.n + kLineFloats, 1};
        if (!call_sgemm(part)) return false;
      }
  return true;
}

}  // namespace thunder
