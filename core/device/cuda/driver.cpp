#include "device/cuda/driver.h"

#include <array>

#include "base/shared_library.h"
#include "base/text.h"

namespace thunder::nvidia {
namespace {

constexpr std::array kNames = {"libcuda.so.1"};

struct Opened {
  Driver driver;
  std::string report, why;
  bool there = false;

  Opened() {
    const SharedLibrary library({"THUNDER_CUDA_DRIVER", kNames});
    why = library.report();
    if (!library.opened() || !resolve(library)) return;
    if (const int failed = driver.init(0)) {
      why = cat(library.path(), ": cuInit: ", text_of(driver, failed));
      return;
    }
    int version = 0;
    driver.version(&version);
    report = cat(library.path(), ", CUDA ", version / 1000, ".", version % 1000 / 10);
    there = true;
  }

  bool resolve(const SharedLibrary& library) {
    const char* missing = nullptr;
#define THUNDER_CUDA_FIND(member, symbol, parameters) \
  if (!library.find(#symbol, driver.member)) missing = #symbol;
    THUNDER_CUDA_DRIVER(THUNDER_CUDA_FIND)
#undef THUNDER_CUDA_FIND
    if (missing) why = cat(library.path(), " has no ", missing);
    return !missing;
  }
};

const Opened& opened() {
  static const Opened once;
  return once;
}

}  // namespace

const Driver* Driver::open(std::string& why) {
  why = opened().why;
  return opened().there ? &opened().driver : nullptr;
}

const std::string& Driver::report() { return opened().report; }

std::string text_of(const Driver& driver, int result) {
  const char *name = nullptr, *text = nullptr;
  if (driver.error_name(result, &name)) name = nullptr;
  if (driver.error_text(result, &text)) text = nullptr;
  return cat(name ? std::string(name) : cat("error ", result), text ? cat(": ", text) : "");
}

bool is_sticky(int result) {
  switch (result) {
    case kEccUncorrectable:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kAssert:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kLaunchFailed:
    case kUnknown: return true;
    default: return false;
  }
}

}  // namespace thunder::nvidia
