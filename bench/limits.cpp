// bench_limits: what this machine does on all of our threads, measured when it is asked: a question a line on standard input,
// the nanoseconds on standard output, the median where some fit into a hundredth of a second. `fma FLOPS`: so many operations, as
// multiply-adds in registers. `scale BYTES`, half of them read and half written, `read BYTES`, and `update BYTES`, four streams
// read and three of them written: of memory of just that size.
#include <array>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "groups/peak.h"

using namespace bench;

namespace {

constexpr double kEnough = 1e7;  // ns
constexpr double kLeast = 1e6;   // operations: what is shorter takes no longer than to look at the clock

// Of body(thread) -> ns on all threads at once, each again and again: the median of the slowest thread.
template <class F>
double together_ns(int threads, F&& body) {
  std::vector<double> each(threads);
  std::vector<std::thread> others;
  const auto one = [&](int t) {
    std::vector<double> samples;
    for (const double start = now_ns(); samples.empty() || now_ns() < start + kEnough;) samples.push_back(body(t));
    each[t] = median(std::move(samples));
  };
  for (int t = 1; t < threads; t++) others.emplace_back(one, t);
  one(0);
  for (auto& t : others) t.join();
  return *std::max_element(each.begin(), each.end());
}

// As an optimiser goes over its tensors: parameter, gradient and two moments in, all but the gradient out.
[[gnu::optimize("O3")]] void updated(float* __restrict p, const float* __restrict g, float* __restrict m, float* __restrict v, size_t n) {
  for (size_t i = 0; i < n; i++) {
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.9f * v[i] + 0.1f * g[i];
    p[i] -= m[i] + v[i];
  }
}

// What a kernel does at least that writes as much as it reads, a multiplication a number. A copy is no limit of it: an instruction that
// copies need not read lines before it writes them, as stores into the caches do.
#if defined(__x86_64__)
[[gnu::target_clones("default", "avx2", "avx512f")]]
#endif
[[gnu::optimize("O3")]] void scaled(float* __restrict to, const float* __restrict from, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = 0.5f * from[i];
}
// The same past the caches.
void scaled_past(float* __restrict to, const float* __restrict from, size_t n) {
  size_t i = 0;
#if defined(__x86_64__)
  for (; i < n && reinterpret_cast<uintptr_t>(to + i) % sizeof(__m128); i++) to[i] = 0.5f * from[i];
  for (; i + 4 <= n; i += 4) _mm_stream_ps(to + i, _mm_mul_ps(_mm_set1_ps(0.5f), _mm_loadu_ps(from + i)));
  _mm_sfence();
#endif
  scaled(to + i, from + i, n - i);
}

class Limits {
 public:
  explicit Limits(int threads) : threads_(threads) {}

  double fma(size_t flops) const {
    const double each = static_cast<double>(flops) / threads_, times = std::max(1.0, kLeast / each);
    return together_ns(threads_, [&](int) { return fma_ns(each * times) / times; });
  }

  double read(size_t bytes) {
    if (bytes != read_bytes_) {
      read_.clear();
      for (int t = 0; t < threads_; t++) read_.push_back(std::make_unique<Reading>(bytes / threads_));
      read_bytes_ = bytes;
    }
    return together_ns(threads_, [&](int t) { return read_[t]->ns(1); });
  }

  double update(size_t bytes) {
    const size_t n = bytes / (7 * sizeof(float)) / threads_;
    updated_.resize(threads_);
    for (auto& tensors : updated_)
      for (auto& tensor : tensors) tensor.resize(n, 0.01f);
    return together_ns(threads_, [&](int t) {
      auto& [p, g, m, v] = updated_[t];
      return mean_ns(1, [&] { updated(p.data(), g.data(), m.data(), v.data(), n); });
    });
  }

  double scale(size_t bytes) {
    const size_t half = bytes / (2 * sizeof(float)), each = half / threads_;
    if (from_.size() != half) from_.assign(half, 1), to_.assign(half, 2);
    const auto ns = [&](auto run) {
      return together_ns(threads_, [&](int t) { return mean_ns(1, [&] { run(&to_[each * t], &from_[each * t], each); }); });
    };
    return std::min(ns(scaled), ns(scaled_past));
  }

 private:
  int threads_;
  size_t read_bytes_ = 0;
  std::vector<std::unique_ptr<Reading>> read_;
  std::vector<std::array<std::vector<float>, 4>> updated_;
  std::vector<float> from_, to_;
};

}  // namespace

int main() {
  const char* given = std::getenv("THUNDER_NUM_THREADS");
  Limits limits(given ? std::max(1, std::atoi(given)) : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what;
    double amount = 0;
    words >> what >> amount;
    const auto n = static_cast<size_t>(amount);
    double ns = 0;
    if (what == "fma") ns = limits.fma(n);
    else if (what == "read") ns = limits.read(n);
    else if (what == "update") ns = limits.update(n);
    else if (what == "scale") ns = limits.scale(n);
    else return std::cerr << "bench_limits: no limit is called \"" << what << "\"\n", 1;
    std::cout << ns << std::endl;
  }
}
