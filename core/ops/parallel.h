// The loop of a kernel in parts, on the threads of its context.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/thread_pool.h"
#include "ops/op.h"

namespace thunder {

// Elements of a cheap loop that are worth waking a thread for.
constexpr int64_t kFewElements = 1 << 14;

// Whether in_parts() makes one part of [0, n).
inline bool is_one_part(const KernelArgs& k, int64_t n, int64_t work) {
  return !k.threads || n == 1 || work < 2 * kFewElements;
}

// Calls body(begin, end), which gives an owned status or nothing, for parts that make up [0, n), several at a time if
// the kernel has threads and `work`, the number of elements that all of them touch together, is worth that. Gives the
// first part's failure.
template <class F>
Status* in_parts(const KernelArgs& k, int64_t n, int64_t work, const F& body) {
  const auto part = [](int64_t begin, int64_t end, void* arg) -> Status* {
    const F& f = *static_cast<const F*>(arg);
    if constexpr (std::is_void_v<std::invoke_result_t<const F&, int64_t, int64_t>>) return f(begin, end), nullptr;
    else return f(begin, end);
  };
  void* arg = const_cast<void*>(static_cast<const void*>(&body));
  if (n <= 0) return nullptr;
  if (is_one_part(k, n, work)) return part(0, n, arg);
  // The number of items that make up a thread's least work: n * kFewElements / work, without overflow.
  const double each = std::max(1.0, static_cast<double>(work) / static_cast<double>(n));
  return k.threads->parallel_for(n, std::max<int64_t>(1, static_cast<int64_t>(kFewElements / each)), part, arg);
}

}  // namespace thunder
