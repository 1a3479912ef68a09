#include "executors/engines.h"

#include <algorithm>

#include "executors/onnxrt/onnxrt.h"

namespace thunder {
namespace {

constexpr EngineRow kRows[] = {{"onnxrt", onnxrt_executor, onnxrt_opens}};

}  // namespace

std::span<const EngineRow> engines() {
  return kRows;
}

const EngineRow* find_engine(std::string_view executor) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows), [&](auto& r) { return r.executor == executor; });
  return found == std::end(kRows) ? nullptr : found;
}

}  // namespace thunder
