// bench_limits [BYTES]...: what this machine does on all of our threads, measured now, as one JSON object: multiply-adds in
// registers; reading, and reading four streams while writing three, of memory far beyond the caches; and the nanoseconds of
// copying so many bytes in all, half of them read and half written, over memory of just that size.
#include <cstring>
#include <memory>
#include <thread>

#include "groups/peak.h"

using namespace bench;

namespace {

// The best of a few runs of body(thread) on all threads at once, in ns; the start of a thread is not counted.
template <class F>
double together_ns(int threads, int runs, F&& body) {
  double best = 1e30;
  for (int r = 0; r < runs; r++) {
    std::vector<double> start(threads), end(threads);
    std::vector<std::thread> others;
    const auto one = [&](int t) { start[t] = now_ns(), body(t), end[t] = now_ns(); };
    for (int t = 1; t < threads; t++) others.emplace_back(one, t);
    one(0);
    for (auto& t : others) t.join();
    double slowest = 0;
    for (int t = 0; t < threads; t++) slowest = std::max(slowest, end[t] - start[t]);
    best = std::min(best, slowest);
  }
  return best;
}

// As an optimiser goes over its tensors: parameter, gradient and two moments in, all but the gradient out.
[[gnu::optimize("O3")]] void update(float* __restrict p, const float* __restrict g, float* __restrict m, float* __restrict v, size_t n) {
  for (size_t i = 0; i < n; i++) {
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.9f * v[i] + 0.1f * g[i];
    p[i] -= m[i] + v[i];
  }
}

double update_gbps(int threads) {
  constexpr size_t kEach = size_t{12} << 20;
  std::vector<std::vector<float>> p(threads), g(threads), m(threads), v(threads);
  for (int t = 0; t < threads; t++)
    for (auto* data : {&p[t], &g[t], &m[t], &v[t]}) data->assign(kEach, 0.01f);
  const double ns = together_ns(threads, 5, [&](int t) { update(p[t].data(), g[t].data(), m[t].data(), v[t].data(), kEach); });
  return static_cast<double>(kEach) * sizeof(float) * 7 * threads / ns;
}

// Over memory of just this size, again and again: what is inside a cache is compared with that cache.
double copy_ns(int threads, size_t bytes) {
  const size_t half = bytes / 2, each = half / static_cast<size_t>(threads);
  std::vector<char> from(half, 1), to(half, 2);
  const int turns = static_cast<int>(std::clamp<size_t>((size_t{1} << 28) / bytes, 1, 200));
  return together_ns(threads, 7, [&](int t) {
           for (int i = 0; i < turns; i++) std::memcpy(&to[each * t], &from[each * t], each);
         }) / turns;
}

double fma_gflops(int threads) {
  std::vector<double> each(threads);
  together_ns(threads, 1, [&](int t) { each[t] = peak_gflops(); });
  double sum = 0;
  for (double gflops : each) sum += gflops;
  return sum;
}

// All read at the same time, each its own memory: the best moment of each alone would add up to more than there is.
double read_gbps_together(int threads) {
#if defined(__x86_64__)
  constexpr size_t kEach = size_t{48} << 20;
  if (!__builtin_cpu_supports("avx2")) return 0;
  std::vector<std::unique_ptr<LargePages>> data;
  for (int t = 0; t < threads; t++) data.push_back(std::make_unique<LargePages>(kEach));
  return static_cast<double>(kEach) * sizeof(float) * threads / together_ns(threads, 9, [&](int t) { read_avx2(data[t]->data(), kEach); });
#else
  return 0;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  const char* given = std::getenv("THUNDER_NUM_THREADS");
  const int threads = given ? std::max(1, std::atoi(given)) : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::printf("{\"threads\": %d, \"fma_gflops\": %.4g, \"read_gbps\": %.4g, \"update_gbps\": %.4g, \"copies\": {", threads, fma_gflops(threads),
              read_gbps_together(threads), update_gbps(threads));
  for (int i = 1; i < argc; i++)
    std::printf("%s\"%s\": %.6g", i > 1 ? ", " : "", argv[i], copy_ns(threads, std::strtoull(argv[i], nullptr, 10)));
  std::printf("}}\n");
}
