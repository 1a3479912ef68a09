#include "executors/cuda/cudnn/library.h"

#include <array>

#include "device/cuda/opened.h"

namespace thunder::cudnn {
namespace {

const char* resolve_symbols(const SharedLibrary& file, Library& library) {
#define THUNDER_CUDNN_FIND(member, result, symbol, parameters) \
  if (!file.find(#symbol, library.member)) return #symbol;
  THUNDER_CUDNN(THUNDER_CUDNN_FIND)
#undef THUNDER_CUDNN_FIND
  return nullptr;
}

std::string version(const Library& library, std::string&) { return nvidia::version_text(library.version()); }

const nvidia::OpenedTable<Library>& opened_library() {
  static constexpr std::array kNames = {"libcudnn.so.9"};
  static const nvidia::OpenedTable<Library> once({"THUNDER_CUDNN", kNames}, resolve_symbols, version);
  return once;
}

}  // namespace

const Library* Library::open(std::string& why) { return opened_library().open(why); }

const std::string& Library::report() { return opened_library().report(); }

}  // namespace thunder::cudnn
