// What the benchmark programs share: times, rows, and short names over the public C API.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "thunder.h"

namespace bench {

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The median over repeats of the mean time of one of `calls` calls.
template <class F>
double median_ns(int repeats, int calls, F&& body) {
  std::vector<double> samples;
  for (int r = 0; r <= repeats; r++) {
    const double start = now_ns();
    for (int i = 0; i < calls; i++) body();
    if (r) samples.push_back((now_ns() - start) / calls);  // the first one warms up
  }
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  return samples[samples.size() / 2];
}

inline void row(const char* name, const char* unit, double value) {
  std::printf("{\"name\": \"%s\", \"unit\": \"%s\", \"value\": %.6g}\n", name, unit, value);
}

// A benchmark has no use for a failed call.
inline void check(thunder_status* status) {
  if (!status) return;
  std::fprintf(stderr, "%s\n", thunder_status_message(status));
  std::exit(1);
}

inline thunder_any any(thunder_tensor* t) {
  thunder_any a{};
  a.kind = t ? THUNDER_TENSOR : THUNDER_NONE;
  a.u.t = t;
  return a;
}
inline thunder_any any(int64_t i) {
  thunder_any a{};
  a.kind = THUNDER_INT;
  a.u.i = i;
  return a;
}
inline thunder_any flag(bool b) {
  thunder_any a{};
  a.kind = THUNDER_BOOLEAN;
  a.u.i = b;
  return a;
}
inline thunder_any none() { return any(static_cast<thunder_tensor*>(nullptr)); }
inline thunder_any dims(const std::vector<int64_t>& d) {
  thunder_any a{};
  a.kind = THUNDER_DIMS;
  a.count = static_cast<uint32_t>(d.size());
  a.u.d = d.data();
  return a;
}

inline thunder_tensor* op(thunder_scope* s, const char* name, std::initializer_list<thunder_any> args) {
  return thunder_op_invoke(s, name, args.begin(), args.size(), nullptr, nullptr, 0, nullptr);
}

inline thunder_tensor* floats(thunder_context* c, const std::vector<int64_t>& shape, float value) {
  size_t n = 1;
  for (int64_t d : shape) n *= static_cast<size_t>(d);
  std::vector<float> data(n, value);
  for (size_t i = 0; i < n; i++) data[i] += 0.01f * static_cast<float>(i % 7);
  thunder_tensor* t = nullptr;
  check(thunder_tensor_create(c, THUNDER_F32, shape.size(), shape.data(), THUNDER_CPU, data.data(), n * sizeof(float), &t));
  return t;
}

}  // namespace bench
