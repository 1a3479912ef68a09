#include "handles.h"

#include <algorithm>
#include <atomic>

#include "call.h"
#include "names.h"
#include "scope.h"

namespace thunder_swig {

namespace {
constexpr long long kGrowth = 256ll << 20;
std::atomic<long long> held_bytes{0}, collect_at{kGrowth};
}  // namespace

std::string Tensor::dtype() const { return dtype_name(thunder_tensor_dtype(handle)); }
int Tensor::rank() const { return static_cast<int>(thunder_tensor_rank(handle)); }
long long Tensor::size(int axis) const { return thunder_tensor_size(handle, axis); }
long long Tensor::nbytes() const { return static_cast<long long>(thunder_tensor_nbytes(handle)); }
bool Tensor::is_concrete() const { return thunder_tensor_is_concrete(handle) != 0; }
Tensor::~Tensor() {
  held_bytes -= counted_;
  thunder_tensor_release(handle);
}
Tensor* Tensor::held() {
  counted_ = nbytes();
  held_bytes += counted_;
  return this;
}

bool should_collect() {
  const long long held = held_bytes, next = held + kGrowth;
  long long at = collect_at;
  // Of several threads that see the same, one is enough.
  if (held >= at) return collect_at.compare_exchange_strong(at, next);
  collect_at = std::min(at, next);
  return false;
}

Function::~Function() { thunder_function_release(handle); }

namespace {
// One stage of a program, or none.
struct Stage {
  Stage(const thunder_compiled* compiled, int stage) {
    if (stage < 0 || static_cast<size_t>(stage) >= thunder_compiled_trace_count(compiled)) return;
    thunder_status_release(thunder_compiled_trace(compiled, static_cast<size_t>(stage), &handle));
  }
  Stage(const Stage&) = delete;
  ~Stage() { thunder_trace_release(handle); }
  thunder_trace* handle = nullptr;
};
}  // namespace

int Compiled::trace_count() const { return static_cast<int>(thunder_compiled_trace_count(handle)); }
std::string Compiled::trace_name(int stage) const {
  const Stage found(handle, stage);
  return found.handle ? thunder_trace_name(found.handle) : "";
}
std::string Compiled::trace(int stage) const {
  const Stage found(handle, stage);
  return found.handle ? thunder_trace_text(found.handle) : "";
}
std::string Compiled::last_miss() const { return thunder_compiled_last_miss(handle); }
std::string Compiled::fusion_report() const { return thunder_compiled_fusion_report(handle); }
std::string Compiled::memory_report() const { return thunder_compiled_memory_report(handle); }
Compiled::~Compiled() {
  thunder_compiled_release(handle);
  thunder_function_release(function);
}

std::string Module::kind() const { return thunder_module_kind(handle); }
Module::~Module() { thunder_module_release(handle); }

Optimizer::~Optimizer() { thunder_optimizer_release(handle); }
Schedule::~Schedule() { thunder_schedule_release(handle); }
long long Batches::count() const { return thunder_batches_count(handle); }
Batches::~Batches() { thunder_batches_release(handle); }

bool is_tracing() { return here() && thunder_scope_is_tracing(here()); }

std::string version() {
  const uint32_t v = thunder_version();
  return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
}

}  // namespace thunder_swig
