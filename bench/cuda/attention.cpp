// Plans of attention through cuDNN's graph interface, forward and backward: how long they take to build, and to run. The order of
// operations is what cuDNN's engines recognise (cudnn-frontend's scaled_dot_product_flash_attention.h).
//
//     attention             the shapes of models
//     attention lengths     one shape at many lengths: what a new length costs
//
// THUNDER_CUDNN names the library, else libcudnn.so.9
#include <chrono>
#include <cmath>
#include <random>

#include "cudnn_graph.h"

namespace {

using cudnn::Graph;
using cudnn::Sizes;
using Tensor = Graph::Tensor;

struct Shape {
  const char* name;
  int64_t batch, heads, length, width;
  bool causal;
};

double milliseconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// Tensors lie as [batch, length, heads, width].
Sizes sizes(const Shape& s) { return {s.batch, s.heads, s.length, s.width}; }
Sizes strides(const Shape& s) { return {s.length * s.heads * s.width, s.width, s.heads * s.width, 1}; }
Sizes turned(const Sizes& s) { return {s[0], s[1], s[3], s[2]}; }

struct Scores {
  const Shape& s;
  Graph& g;
  Sizes all{s.batch, s.heads, s.length, s.length}, rows{s.batch, s.heads, s.length, 1};

  Tensor apply(cudnn::Mode mode, const Tensor& x, const Tensor* other = nullptr, cudnn::Data type = cudnn::f32) {
    const Tensor y = g.between(x.sizes, type);
    g.pointwise(mode, x, other, nullptr, y);
    return y;
  }
  Tensor masked(const Tensor& score, const Tensor& infinity) {
    if (!s.causal) return score;
    const Tensor row = g.between(all, cudnn::i32), column = g.between(all, cudnn::i32), seen = g.between(all, cudnn::boolean), out = g.between(all);
    g.pointwise(cudnn::kIndex, score, nullptr, nullptr, row, cudnn::i32, 2);
    g.pointwise(cudnn::kIndex, score, nullptr, nullptr, column, cudnn::i32, 3);
    g.pointwise(cudnn::kGreaterEqual, row, &column, nullptr, seen, cudnn::boolean);
    g.pointwise(cudnn::kSelect, score, &infinity, &seen, out);
    return out;
  }
};

struct Memory {
  driver::Pointer q, k, v, o, stats, grad, dq, dk, dv, sums, accumulated;
  float scale, infinity = -INFINITY, one = 1;
};
void* at(driver::Pointer p) { return reinterpret_cast<void*>(p); }

struct Plan {
  Graph graph;
  bool found = false;
  double build_ms = 0, time_us = 0;
};

Plan forward(cudnn::Handle handle, const Shape& s, Memory& m, cudnn::Desc* kernels = nullptr) {
  Plan p{Graph(handle, kernels)};
  Graph& g = p.graph;
  Scores on{s, g};
  const Tensor q = g.tensor(sizes(s), strides(s), cudnn::bf16), k = g.tensor(turned(sizes(s)), turned(strides(s)), cudnn::bf16),
               v = g.tensor(sizes(s), strides(s), cudnn::bf16), o = g.tensor(sizes(s), strides(s), cudnn::bf16),
               stats = g.tensor(on.rows, {s.heads * s.length, s.length, 1, 1}, cudnn::f32), scale = g.scalar(), infinity = g.scalar();
  p.build_ms = milliseconds_of([&] {
    const Tensor product = g.between(on.all);
    g.matmul(q, k, product);
    const Tensor score = on.masked(on.apply(cudnn::kMul, product, &scale), infinity);
    const Tensor most = g.between(on.rows), total = g.between(on.rows), weights = g.between(on.all, cudnn::bf16);
    g.reduce(cudnn::kMax, score, most);
    const Tensor exp = on.apply(cudnn::kExp, on.apply(cudnn::kSub, score, &most));
    g.reduce(cudnn::kSum, exp, total);
    const Tensor log = on.apply(cudnn::kLog, total);
    g.pointwise(cudnn::kAdd, most, &log, nullptr, stats);
    g.pointwise(cudnn::kDiv, exp, &total, nullptr, weights);
    g.matmul(weights, v, o);
    p.found = g.plan();
  });
  if (!p.found) return p;
  if (s.causal)
    g.bind({{q, at(m.q)}, {k, at(m.k)}, {v, at(m.v)}, {o, at(m.o)}, {stats, at(m.stats)}, {scale, &m.scale}, {infinity, &m.infinity}});
  else g.bind({{q, at(m.q)}, {k, at(m.k)}, {v, at(m.v)}, {o, at(m.o)}, {stats, at(m.stats)}, {scale, &m.scale}});
  p.time_us = driver::median_time(20, [&] { g.run(); });
  return p;
}

Plan backward(cudnn::Handle handle, const Shape& s, Memory& m, cudnn::Desc* kernels = nullptr) {
  Plan p{Graph(handle, kernels)};
  Graph& g = p.graph;
  Scores on{s, g};
  const Sizes straight = sizes(s), steps = strides(s), across{s.batch, s.heads, s.length, s.length};
  const Sizes columns{s.heads * s.length * s.length, s.length * s.length, 1, s.length}, row_steps{s.heads * s.length, s.length, 1, 1};
  const auto in = [&](const Sizes& z, const Sizes& t) { return g.tensor(z, t, cudnn::bf16); };
  const Tensor q = in(straight, steps), k = in(turned(straight), turned(steps)), v = in(turned(straight), turned(steps)), o = in(straight, steps),
               grad = in(straight, steps), dq = in(straight, steps), dk = in(straight, steps), dv = in(straight, steps),
               stats = g.tensor(on.rows, row_steps, cudnn::f32), sums = g.tensor(on.rows, row_steps, cudnn::f32),
               accumulated = g.tensor(straight, {s.heads * s.length * s.width, s.length * s.width, s.width, 1}, cudnn::f32), scale = g.scalar(),
               infinity = g.scalar(), one = g.scalar();
  p.build_ms = milliseconds_of([&] {
    const Tensor terms = g.between(straight), sum = g.between(on.rows), product = g.between(on.all);
    g.pointwise(cudnn::kMul, grad, &o, nullptr, terms);
    g.reduce(cudnn::kSum, terms, sum);
    g.pointwise(cudnn::kMul, sum, &one, nullptr, sums);
    g.matmul(q, k, product);
    const Tensor shifted = on.apply(cudnn::kSub, on.apply(cudnn::kMul, product, &scale), &stats);
    const Tensor weights = on.apply(cudnn::kExp, on.masked(shifted, infinity));
    const Tensor weights_turned = g.between(across, columns, cudnn::bf16), d_weights = g.between(on.all), d_turned = g.between(across, columns, cudnn::bf16);
    g.reshape(weights, weights_turned);
    g.matmul(weights_turned, grad, dv);
    g.matmul(grad, v, d_weights);
    const Tensor d_score = on.apply(cudnn::kMul, on.apply(cudnn::kMul, on.apply(cudnn::kSub, d_weights, &sums), &weights), &scale);
    g.reshape(d_score, d_turned);
    g.matmul(d_turned, q, dk);
    const Tensor k_straight = g.between(straight, steps, cudnn::bf16);
    g.reshape(k, k_straight);
    g.matmul(d_score, k_straight, accumulated);
    g.pointwise(cudnn::kIdentity, accumulated, nullptr, nullptr, dq);
    p.found = g.plan();
  });
  if (!p.found) return p;
  std::vector<Graph::Binding> all;
  const auto bind = [&](auto... more) {
    g.bind({{q, at(m.q)}, {k, at(m.k)}, {v, at(m.v)}, {o, at(m.o)}, {grad, at(m.grad)}, {dq, at(m.dq)}, {dk, at(m.dk)}, {dv, at(m.dv)},
            {stats, at(m.stats)}, {sums, at(m.sums)}, {accumulated, at(m.accumulated)}, {scale, &m.scale}, {one, &m.one}, more...});
  };
  if (s.causal) bind(Graph::Binding{infinity, &m.infinity});
  else bind();
  p.time_us = driver::median_time(20, [&] { g.run(); });
  return p;
}

float widened(uint16_t half) {
  const uint32_t bits = uint32_t{half} << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}
uint16_t narrowed(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The largest difference of a few rows of the forward from doubles.
double error_of(const Shape& s, const std::vector<uint16_t> (&in)[3], const std::vector<uint16_t>& out, float scale) {
  const auto place = [&](int64_t b, int64_t h, int64_t row) { return ((b * s.length + row) * s.heads + h) * s.width; };
  double worst = 0;
  for (const int64_t row : {int64_t{0}, s.length / 3, s.length - 1}) {
    const int64_t b = s.batch - 1, h = s.heads - 1, seen = s.causal ? row + 1 : s.length;
    std::vector<double> weight(static_cast<size_t>(seen)), result(static_cast<size_t>(s.width));
    double total = 0;
    for (int64_t j = 0; j < seen; j++) {
      double dot = 0;
      for (int64_t d = 0; d < s.width; d++)
        dot += widened(in[0][static_cast<size_t>(place(b, h, row) + d)]) * widened(in[1][static_cast<size_t>(place(b, h, j) + d)]);
      total += weight[static_cast<size_t>(j)] = std::exp(dot * scale);
    }
    for (int64_t j = 0; j < seen; j++)
      for (int64_t d = 0; d < s.width; d++)
        result[static_cast<size_t>(d)] += weight[static_cast<size_t>(j)] / total * widened(in[2][static_cast<size_t>(place(b, h, j) + d)]);
    for (int64_t d = 0; d < s.width; d++)
      worst = std::max(worst, std::fabs(result[static_cast<size_t>(d)] - widened(out[static_cast<size_t>(place(b, h, row) + d)])));
  }
  return worst;
}

void measure(cudnn::Handle handle, const Shape& s, cudnn::Desc* forward_kernels = nullptr, cudnn::Desc* backward_kernels = nullptr) {
  const auto elements = static_cast<size_t>(s.batch * s.heads * s.length * s.width), rows = static_cast<size_t>(s.batch * s.heads * s.length);
  Memory m{};
  m.scale = 1 / std::sqrt(static_cast<float>(s.width));
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<uint16_t> in[3], out(elements);
  for (auto* p : {&m.q, &m.k, &m.v, &m.o, &m.grad, &m.dq, &m.dk, &m.dv}) *p = driver::allocate(elements * 2);
  for (auto* p : {&m.stats, &m.sums}) *p = driver::allocate(rows * 4);
  m.accumulated = driver::allocate(elements * 4);
  for (auto& data : in) {
    data.resize(elements);
    for (auto& x : data) x = narrowed(normal(random));
  }
  driver::upload(m.q, in[0].data(), elements * 2), driver::upload(m.k, in[1].data(), elements * 2), driver::upload(m.v, in[2].data(), elements * 2);
  driver::upload(m.grad, in[1].data(), elements * 2);
  const double products = 4.0 * static_cast<double>(s.batch * s.heads) * static_cast<double>(s.length * s.length * s.width) / (s.causal ? 2 : 1);
  const Plan f = forward(handle, s, m, forward_kernels);
  if (f.found) driver::download(out.data(), m.o, elements * 2);
  std::printf("%-24s %5lld forward  %s", s.name, static_cast<long long>(s.length), f.found ? "" : "no plan\n");
  if (f.found)
    std::printf("plan %7.1f ms, %8.1f us = %5.1f TFLOP/s, workspace %lld bytes, engine %lld, error %.2g\n", f.build_ms, f.time_us, products / f.time_us * 1e-6,
                static_cast<long long>(f.graph.workspace_bytes), static_cast<long long>(f.graph.engine), error_of(s, in, out, m.scale));
  const Plan b = backward(handle, s, m, backward_kernels);
  std::printf("%-24s %5lld backward %s", s.name, static_cast<long long>(s.length), b.found ? "" : "no plan\n");
  if (b.found)
    std::printf("plan %7.1f ms, %8.1f us = %5.1f TFLOP/s, workspace %lld bytes, engine %lld\n", b.build_ms, b.time_us, 2.5 * products / b.time_us * 1e-6,
                static_cast<long long>(b.graph.workspace_bytes), static_cast<long long>(b.graph.engine));
  for (auto p : {m.q, m.k, m.v, m.o, m.grad, m.dq, m.dk, m.dv, m.stats, m.sums, m.accumulated}) driver::free(p);
}

// Lengths in turn, a plan for each, and with kernels that are kept for all lengths.
void measure_lengths(cudnn::Handle handle) {
  for (const bool keeps : {false, true}) {
    std::printf("%s\n", keeps ? "plans that share kernels" : "a plan for each length");
    cudnn::Desc forward_kernels = nullptr, backward_kernels = nullptr;
    for (const int64_t length : {512, 640, 768, 896, 1000, 1024, 333, 777, 1, 64, 65, 2048})
      measure(handle, Shape{"4x12xLx64 causal", 4, 12, length, 64, true}, keeps ? &forward_kernels : nullptr, keeps ? &backward_kernels : nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  driver::start();
  const auto version = driver::symbol<size_t (*)()>(cudnn::library(), "cudnnGetVersion")();
  std::printf("cuDNN %zu.%zu.%zu\n", version / 10000, version / 100 % 100, version % 100);
  cudnn::Handle handle = nullptr;
  std::printf("handle: %.1f ms\n", milliseconds_of([&] { cudnn::call("cudnnCreate", &handle); }));
  if (argc > 1 && std::string(argv[1]) == "lengths") {
    measure_lengths(handle);
    return 0;
  }
  for (const Shape& s : {Shape{"16x12x1024x64 causal", 16, 12, 1024, 64, true}, Shape{"16x12x1024x64 again", 16, 12, 1024, 64, true},
                         Shape{"8x25x1024x64 causal", 8, 25, 1024, 64, true}, Shape{"1x32x8192x128 causal", 1, 32, 8192, 128, true},
                         Shape{"1x32x8192x128", 1, 32, 8192, 128, false}, Shape{"2x32x2048x64 causal", 2, 32, 2048, 64, true}})
    measure(handle, s);
}
