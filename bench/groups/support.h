// What the benchmark programs share: times, rows, and short names over the public C API.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "thunder.h"

namespace bench {

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  return samples[samples.size() / 2];
}

template <class F>
double mean_ns(int calls, F&& body) {
  const double start = now_ns();
  for (int i = 0; i < calls; i++) body();
  return (now_ns() - start) / calls;
}

// The median over repeats of the mean time of one of `calls` calls.
template <class F>
double median_ns(int repeats, int calls, F&& body) {
  mean_ns(calls, body);  // warms up
  std::vector<double> samples;
  for (int r = 0; r < repeats; r++) samples.push_back(mean_ns(calls, body));
  return median(std::move(samples));
}

// The same beside a limit, of which limit(calls) measures the ns of so many calls, just before each repeat. What others take of the
// machine they take of both.
struct Beside {
  double ns, limit_ns;
};
template <class F, class L>
Beside beside(int repeats, int calls, F&& body, L&& limit) {
  std::vector<double> samples, limits;
  for (int r = 0; r < repeats; r++) {
    limits.push_back(limit(calls) / calls);
    body();  // puts back into the caches what limit drove out
    samples.push_back(mean_ns(calls, body));
  }
  return {median(std::move(samples)), median(std::move(limits))};
}

// The limit of the row that follows, where one is known: a number.
inline void limit_row(const char* name, const char* unit, double value) {
  if (!std::isfinite(value)) return;
  std::printf("{\"limit\": true, \"name\": \"%s\", \"unit\": \"%s\", \"value\": %.6g}\n", name, unit, value);
}

// What another library takes for the row that follows.
inline void peer_row(const char* peer, const char* name, const char* unit, double value) {
  std::printf("{\"peer\": \"%s\", \"name\": \"%s\", \"unit\": \"%s\", \"value\": %.6g}\n", peer, name, unit, value);
}

// Ends a turn: the others measure theirs before this returns. THUNDER_BENCH_PEER: the name of a variant of ours, which is then a peer.
inline void row(const char* name, const char* unit, double value) {
  if (const char* peer = std::getenv("THUNDER_BENCH_PEER")) peer_row(peer, name, unit, value);
  else std::printf("{\"name\": \"%s\", \"unit\": \"%s\", \"value\": %.6g}\n", name, unit, value);
  if (!std::getenv("THUNDER_BENCH_TURNS")) return;
  std::puts("turn");
  std::fflush(stdout);
  for (int c = 0; c != '\n' && c != EOF;) c = std::getchar();
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
