#include "device/cuda/driver.h"

#include <array>

#include "device/cuda/opened.h"

namespace thunder::nvidia {
namespace {

const char* resolve(const SharedLibrary& file, Driver& driver) {
#define THUNDER_CUDA_FIND(member, symbol, parameters) \
  if (!file.find(#symbol, driver.member)) return #symbol;
  THUNDER_CUDA_DRIVER(THUNDER_CUDA_FIND)
#undef THUNDER_CUDA_FIND
  return nullptr;
}

std::string start(const Driver& driver, std::string& why) {
  int version = 0;
  if (const int failed = driver.init(0)) return why = cat("cuInit: ", text_of(driver, failed)), "";
  driver.version(&version);
  return cat("CUDA ", version / 1000, ".", version % 1000 / 10);
}

const OpenedTable<Driver>& opened() {
  static constexpr std::array kNames = {"libcuda.so.1"};
  static const OpenedTable<Driver> once({"THUNDER_CUDA_DRIVER", kNames}, resolve, start);
  return once;
}

}  // namespace

const Driver* Driver::open(std::string& why) { return opened().open(why); }

const std::string& Driver::report() { return opened().report(); }

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
