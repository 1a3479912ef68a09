#include "executors/cublaslt/library.h"

#include <array>

#include "base/shared_library.h"
#include "base/text.h"

namespace thunder::cublaslt {
namespace {

struct Opened {
  Library library;
  std::string report, why;
  bool there = false;

  Opened() {
    static constexpr std::array kNames = {"libcublasLt.so.13", "libcublasLt.so.12"};
    const SharedLibrary file({"THUNDER_CUBLASLT", kNames});
    why = file.report();
    if (!file.opened()) return;
    const char* missing = nullptr;
#define THUNDER_CUBLASLT_FIND(member, result, symbol, parameters) \
  if (!file.find(#symbol, library.member)) missing = #symbol;
    THUNDER_CUBLASLT(THUNDER_CUBLASLT_FIND)
#undef THUNDER_CUBLASLT_FIND
    if (missing) {
      why = cat(file.path(), " has no ", missing);
      return;
    }
    const size_t version = library.version();
    report = cat(file.path(), ", ", version / 10000, ".", version % 10000 / 100, ".", version % 100);
    there = true;
  }
};

const Opened& opened() {
  static const Opened once;
  return once;
}

}  // namespace

const Library* Library::open(std::string& why) {
  why = opened().why;
  return opened().there ? &opened().library : nullptr;
}

const std::string& Library::report() { return opened().report; }

}  // namespace thunder::cublaslt
