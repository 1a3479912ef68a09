#include "executors/onnxrt/runtime.h"

#include <array>

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

std::string Runtime::start(const SharedLibrary& library) {
  const OrtApiBase* (*base)() = nullptr;
  if (!library.find("OrtGetApiBase", base))
    fail(Code::declined, "it exports no OrtGetApiBase; ONNX Runtime does since 1.19");
  table_ = base()->get_api(kApiVersion);
  if (!table_)
    fail(Code::declined, "it is ONNX Runtime ", base()->version(), "; 1.", kApiVersion, " or newer is needed");
  const char* const name = "libthunder";
  check(call(kCreateEnv, kFatalOnly, name, &env_));
  check(call(kCreateCpuMemoryInfo, kDeviceAllocator, kDefaultMemory, &memory_));
  return cat("ONNX Runtime ", base()->version());
}

const Runtime* Runtime::open(std::string& found, std::string_view file) {
  static OneEngine<Runtime> engine;
  return engine.open([](std::string_view of) { return find_library(kSearch, of); }, file, found);
}

}  // namespace thunder::onnxrt
