#include "executors/onednn/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "base/text.h"

namespace thunder {
namespace {

// dnnl_sgemm has had one signature since version 1, so no header of the library is needed to build.
constexpr std::array kNames = {"libdnnl.so.2", "libdnnl.so.3"};

// How dnnl_version_t begins.
struct Version {
  int major, minor, patch;
};

template <class F>
bool find(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  return function != nullptr;
}

// How dnnl_sgemm is told of a matrix of these sizes: 'N' and the distance of its rows, or 'T' and that of its columns.
struct Leading {
  char transposed = 0;  // 0: neither are its rows dense nor its columns
  int64_t distance = 0;
};
Leading leading(const Matrix& m, int64_t rows, int64_t columns) {
  if ((m.column == 1 || columns == 1) && (m.row >= columns || rows == 1)) return {'N', std::max(m.row, columns)};
  if ((m.row == 1 || rows == 1) && (m.column >= rows || columns == 1)) return {'T', std::max(m.column, rows)};
  return {};
}

}  // namespace

std::span<const char* const> Library::names() { return kNames; }

bool Library::resolve(void* handle, std::string& report) {
  const Version* (*version)() = nullptr;
  // Its OpenMP is found among what it depends on.
  if (!find(handle, "dnnl_version", version) || !find(handle, "dnnl_sgemm", sgemm_)) report = "has no dnnl_sgemm";
  else if (!find(handle, "omp_get_max_threads", max_threads_) || !find(handle, "omp_set_num_threads", set_threads_)) report = "does not use OpenMP";
  else if (!(kernels_ = kernels_for(instructions_of_this_machine()))) report = "is of no use on a processor without AVX2";
  else {
    const Version& v = *version();
    report = cat("oneDNN ", v.major, ".", v.minor, ".", v.patch, ", ", kernels_->instructions);
    return true;
  }
  return false;
}

const Library* Library::open(std::span<const char* const> names, std::string& report) {
  // One copy a process, as if we had been linked with it: its threads and generated code are the process's anyway.
  static std::mutex mutex;
  static Library library;
  static std::string found;
  std::lock_guard lock(mutex);
  report.clear();
  for (const char* name : names) {
    void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) continue;
    if (Library opened; opened.resolve(handle, report)) {
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

bool Library::multiplies(const Product& p) {
  return leading(p.a, p.m, p.k).transposed && leading(p.b, p.k, p.n).transposed;
}

bool Library::multiply(const Product& p) const {
  const OneThread one(*this);
  const Leading a = leading(p.a, p.m, p.k), b = leading(p.b, p.k, p.n);
  return sgemm_(a.transposed, b.transposed, p.m, p.n, p.k, 1.0f, p.a.data, a.distance, p.b.data, b.distance, p.add ? 1.0f : 0.0f, p.c,
                std::max(p.c_row, p.n)) == 0;
}

}  // namespace thunder
