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
  // When several threads see that it is time to collect, one of them says so.
  if (held >= at) return collect_at.compare_exchange_strong(at, next);
  collect_at = std::min(at, next);
  return false;
}

Function::~Function() { thunder_function_release(handle); }

Compiled::Compiled(thunder_compiled* owned) : handle(owned) {
  thunder_status* failed = thunder_compiled_function(handle, &function);
  if (failed) thunder_compiled_release(handle);
  check(failed);
}
Compiled::~Compiled() {
  thunder_compiled_release(handle);
  thunder_function_release(function);
}

bool is_tracing() { return current_scope() && thunder_scope_is_tracing(current_scope()); }

std::string version() {
  const uint32_t v = thunder_version();
  return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
}

}  // namespace thunder_swig
