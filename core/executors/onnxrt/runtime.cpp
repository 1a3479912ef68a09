#include "executors/onnxrt/runtime.h"

#include <array>
#include <mutex>

#include "base/shared_library.h"
#include "base/text.h"

namespace thunder::onnxrt {
namespace {

constexpr std::array kNames = {"libonnxruntime.so.1", "libonnxruntime.so"};
constexpr LibrarySearch kSearch{.variable = "THUNDER_ONNXRUNTIME", .names = kNames};

}  // namespace

std::string Runtime::message_of(OrtStatus* failed) const {
  const std::string text =
      reinterpret_cast<const char* (*)(const OrtStatus*)>(const_cast<void*>(table_[kGetErrorMessage]))(failed);
  release(kReleaseStatus, failed);
  return text;
}

void Runtime::check(OrtStatus* failed) const {
  if (failed) fail(Code::declined, "ONNX Runtime: ", message_of(failed));
}

const Runtime* Runtime::open(std::string& found) {
  static std::mutex mutex;
  static Runtime runtime;
  static std::string report;
  std::lock_guard lock(mutex);
  if (report.empty()) {
    static const SharedLibrary library(kSearch);
    const OrtApiBase* (*base)() = nullptr;
    if (!library.opened()) {
      report = library.report();
    } else if (!library.find("OrtGetApiBase", base)) {
      report = cat(library.path(), " exports no OrtGetApiBase; ONNX Runtime does since 1.19");
    } else if (const void* const* table = base()->get_api(kApiVersion); !table) {
      report = cat(library.path(), " is ONNX Runtime ", base()->version(), "; 1.", kApiVersion, " or newer is needed");
    } else {
      Runtime made;
      made.table_ = table, made.version_ = base()->version();
      const char* const name = "libthunder";
      made.check(made.call(kCreateEnv, kFatalOnly, name, &made.env_));
      made.check(made.call(kCreateCpuMemoryInfo, kDeviceAllocator, kDefaultMemory, &made.memory_));
      report = cat("ONNX Runtime ", made.version_, ", ", library.path());
      runtime = made;
    }
  }
  found = report;
  return runtime.table_ ? &runtime : nullptr;
}

}  // namespace thunder::onnxrt
