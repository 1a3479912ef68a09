#include "ops/lapack.h"

#include <array>

#include "base/shared_library.h"
#include "base/text.h"

namespace thunder {
namespace {

// OpenBLAS first, where it is: the reference takes three to ten times as long.
constexpr std::array kNames = {"libopenblas.so.0", "libopenblas.so", "liblapack.so.3"};

template <class T>
bool resolve(const SharedLibrary& library, char letter, LapackFunctions<T>& f) {
  const auto find = [&](const char* name, auto& function) {
    return library.find(cat(letter, name, "_").c_str(), function);
  };
  const bool lines =
      find("potrf", f.potrf) && find("trtrs", f.trtrs) && find("getrf", f.getrf) && find("getrs", f.getrs);
  return lines && find("geqrf", f.geqrf) && find("orgqr", f.orgqr) && find("gesdd", f.gesdd) &&
         find("syevd", f.syevd) && find("gemm", f.gemm);
}

struct Opened {
  Opened() : library({"THUNDER_LAPACK", kNames}) {
    if (!library.opened()) why = library.report();
    else if (!resolve(library, 's', functions.f32) || !resolve(library, 'd', functions.f64))
      why = cat(library.path(), " is no LAPACK");
    int (*parallel)() = nullptr;
    if (!library.opened() || !library.find("openblas_get_parallel", parallel)) return;
    functions.reentrant = parallel() != 0, functions.one_at_a_time = !functions.reentrant;
  }
  SharedLibrary library;
  Lapack functions;
  std::string why;
};

}  // namespace

const Lapack* Lapack::get(const std::string*& why) {
  static const Opened opened;
  why = &opened.why;
  return opened.why.empty() ? &opened.functions : nullptr;
}

}  // namespace thunder
