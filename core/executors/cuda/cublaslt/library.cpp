#include "executors/cuda/cublaslt/library.h"

#include <array>

#include "device/cuda/opened.h"

namespace thunder::cublaslt {
namespace {

const char* resolve_symbols(const SharedLibrary& file, Library& library) {
#define THUNDER_CUBLASLT_FIND(member, result, symbol, parameters) \
  if (!file.find(#symbol, library.member)) return #symbol;
  THUNDER_CUBLASLT(THUNDER_CUBLASLT_FIND)
#undef THUNDER_CUBLASLT_FIND
  return nullptr;
}

std::string version(const Library& library, std::string&) { return nvidia::version_text(library.version()); }

const nvidia::OpenedTable<Library>& opened_library() {
  static constexpr std::array kNames = {"libcublasLt.so.13", "libcublasLt.so.12"};
  static const nvidia::OpenedTable<Library> once({"THUNDER_CUBLASLT", kNames}, resolve_symbols, version);
  return once;
}

}  // namespace

const Library* Library::open(std::string& why) { return opened_library().open(why); }

const std::string& Library::report() { return opened_library().report(); }

}  // namespace thunder::cublaslt
