#include "jit/watches/ranges.h"

#include <cstdlib>

#include "base/shared_library.h"
#include "base/text.h"
#include "program/cost.h"

namespace thunder {
namespace {

// Of NVTX's interface, which is C and stays as it is: a name goes on the thread's stack of ranges, or the last one off.
struct Nvtx {
  int (*push)(const char* name) = nullptr;
  int (*pop)() = nullptr;
};

// The library finds the profiler that has started this process, by NVTX_INJECTION64_PATH. Where none has, the ranges
// would cost time for nobody.
Nvtx load_nvtx() {
  Nvtx out;
  const char *profiler = std::getenv("NVTX_INJECTION64_PATH"), *library = std::getenv("THUNDER_NVTX");
  if (!(profiler && *profiler) && !(library && *library)) return out;
  static constexpr const char* kNames[] = {"libnvtx3interop.so.1", "libnvToolsExt.so.1"};
  const SharedLibrary file(LibrarySearch{"THUNDER_NVTX", kNames});
  if (!file.opened() || !file.find("nvtxRangePushA", out.push) || !file.find("nvtxRangePop", out.pop)) return {};
  return out;
}

const Nvtx& nvtx() {
  static const Nvtx opened = load_nvtx();
  return opened;
}

std::string text_of(const Program& program, const Step& step) {
  return cat(program.trace().function, ": ", step.node ? ops_of(*step.node) : "copy");
}

}  // namespace

bool ranges_are_wanted() { return nvtx().pop != nullptr; }

void Ranges::before(const Program& program, size_t at, const Launch&) {
  const Plan& plan = program.plan();
  const Step& step = plan.steps[at];
  std::string text = text_of(program, step);
  if (step.epilogue >= 0) text += cat(", on each tile: ", ops_of(*plan.epilogues[size_t(step.epilogue)].node));
  nvtx().push(text.c_str());
  open_ = true;
}

void Ranges::close() {
  if (std::exchange(open_, false)) nvtx().pop();
}

}  // namespace thunder
