#include "scale/nccl/library.h"

#include <array>

#include "device/cuda/opened.h"
#include "scale/engine.h"

namespace thunder::scale::nccl {
namespace {

const char* resolve(const SharedLibrary& file, Library& library) {
#define THUNDER_NCCL_FIND(member, symbol, parameters) \
  if (!file.find(#symbol, library.member)) return #symbol;
  THUNDER_NCCL(THUNDER_NCCL_FIND)
#undef THUNDER_NCCL_FIND
  if (!file.find("ncclGetErrorString", library.error_text)) return "ncclGetErrorString";
  if (!file.find("ncclGetLastError", library.last_error)) return "ncclGetLastError";
  return nullptr;
}

std::string start(const Library& library, std::string& why) {
  int version = 0;
  if (library.version(&version) != kSuccess) return why = "it does not say its version", "";
  const std::string text = cat("NCCL ", nvidia::version_text(static_cast<size_t>(version)));
  return version >= kOldest ? text : (why = cat("it is ", text, "; 2.18 or newer is needed"), "");
}

const nvidia::OpenedTable<Library>& opened() {
  static constexpr std::array kNames = {"libnccl.so.2"};
  static const nvidia::OpenedTable<Library> once({"THUNDER_NCCL", kNames}, resolve, start);
  return once;
}

}  // namespace

const Library& Library::open() {
  std::string why;
  if (const Library* library = opened().open(why)) return *library;
  fail(Code::not_found, "nccl: ", why);
}

const std::string& Library::report() {
  return opened().report();
}

bool Library::check(int result, const char* function, Comm comm) const {
  if (result == kSuccess || result == kInProgress) return result == kInProgress;
  const char* const more = last_error(comm);
  fail(result == kRemoteError ? kUnavailable : Code::backend, "nccl: ", function, ": ", error_text(result),
       more && *more ? cat(": ", more) : "");
}

}  // namespace thunder::scale::nccl
