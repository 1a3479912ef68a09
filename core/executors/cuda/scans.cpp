// What runs along a dim: cumsum, cumprod, cummax, cummin, prod. A block for each line goes along it 256 elements at a time; the order in
// which elements meet depends on the line's length alone.
#include "executors/cuda/line.h"

namespace thunder::cuda_lines {
namespace {

#define THUNDER_CUDA_SCAN                                                                                      \
  "template <class S, class F> __device__ inline S scan(S v, S carry, S* room, S& all, F combine) {\n"         \
  "  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"                                            \
  "  for (int n = 1; n < 32; n *= 2) {\n"                                                                      \
  "    const S before = from_lane(v, lane >= n ? lane - n : lane);\n"                                          \
  "    if (lane >= n) v = combine(before, v);\n"                                                               \
  "  }\n"                                                                                                      \
  "  if (lane == 31) room[warp] = v;\n"                                                                        \
  "  __syncthreads();\n"                                                                                       \
  "  S before = carry;\n"                                                                                      \
  "  all = carry;\n"                                                                                           \
  "  for (int w = 0; w < (int)blockDim.x / 32; w++) {\n"                                                       \
  "    if (w == warp) before = all;\n"                                                                         \
  "    all = combine(all, room[w]);\n"                                                                         \
  "  }\n"                                                                                                      \
  "  __syncthreads();\n"                                                                                       \
  "  return combine(before, v);\n"                                                                             \
  "}\n"

#define THUNDER_CUDA_FOLD(START, COMBINE)                                                                        \
  THUNDER_CUDA_SCAN                                                                                              \
  "extern \"C\" __global__ void kernel(T* out, const T* in, i64 lines, i64 along, i64 behind, i64 reverse, i64 whole) {\n" \
  "  __shared__ A room[8];\n"                                                                                    \
  "  for (i64 line = blockIdx.x; line < lines; line += gridDim.x) {\n"                                           \
  "    const i64 a = line / behind, b = line - a * behind;\n"                                                    \
  "    A carry = " START ";\n"                                                                                   \
  "    for (i64 first = 0; first < along; first += blockDim.x) {\n"                                              \
  "      const i64 i = first + threadIdx.x, place = (a * along + (reverse ? along - 1 - i : i)) * behind + b;\n" \
  "      const A v = scan(i < along ? (A)get(in[place]) : (A)(" START "), carry, room, carry, [](A x, A y) { return (A)(x " COMBINE " y); });\n" \
  "      if (i < along && !whole) out[place] = put((C)v);\n"                                                     \
  "    }\n"                                                                                                      \
  "    if (whole && threadIdx.x == 0) out[line] = put((C)carry);\n"                                              \
  "  }\n"                                                                                                        \
  "}\n"

constexpr char kSum[] = THUNDER_CUDA_FOLD("0", "+");
constexpr char kProduct[] = THUNDER_CUDA_FOLD("1", "*");

// Of equal elements the last; NaN stays. `at` is -1 where there is none.
constexpr char kExtremum[] = THUNDER_CUDA_SCAN R"(
struct Top { C value; i64 at; };
extern "C" __global__ void kernel(T* values, i64* indices, const T* in, i64 lines, i64 along, i64 behind, i64 maximum) {
  __shared__ Top room[8];
  for (i64 line = blockIdx.x; line < lines; line += gridDim.x) {
    const i64 a = line / behind, b = line - a * behind;
    Top carry = {(C)0, -1};
    for (i64 first = 0; first < along; first += blockDim.x) {
      const i64 i = first + threadIdx.x, place = (a * along + i) * behind + b;
      const Top mine = i < along ? Top{get(in[place]), i} : Top{(C)0, -1};
      const Top top = scan(mine, carry, room, carry, [=](Top x, Top y) {
        if (x.at < 0 || y.at < 0) return x.at < 0 ? y : x;
        const bool later = y.value != y.value || (x.value == x.value && (maximum ? y.value >= x.value : y.value <= x.value));
        return later ? y : x;
      });
      if (i < along) values[place] = put(top.value), indices[place] = top.at;
    }
  }
}
)";

Status* fold(const Line& line, const Launch& l, int64_t reverse, int64_t whole) {
  const Buffer &in = l.inputs[0], &out = l.outputs[0];
  Around a = around(in, line.node.args[1].i);
  void *to = out.data, *from = in.data;
  int64_t lines = a.before * a.behind;
  void* parameters[] = {&to, &from, &lines, &a.along, &a.behind, &reverse, &whole};
  return out.elements() ? line.launch(lines, true, parameters) : nullptr;
}
Status* run_scan(const Line& line, const Launch& l) { return fold(line, l, line.node.args[2].i, 0); }
Status* run_prod(const Line& line, const Launch& l) { return fold(line, l, 0, 1); }

template <int64_t greatest>
Status* run_extremum(const Line& line, const Launch& l) {
  Around a = around(l.inputs[0], line.node.args[1].i);
  void *values = l.outputs[0].data, *indices = l.outputs[1].data, *from = l.inputs[0].data;
  int64_t lines = a.before * a.behind, maximum = greatest;
  void* parameters[] = {&values, &indices, &from, &lines, &a.along, &a.behind, &maximum};
  return a.along ? line.launch(lines, true, parameters) : nullptr;
}

bool numbers(const NodeView& view) { return first_input(view) != DType::boolean; }

constexpr Rule kRules[] = {
    {"prims.cumsum", numbers, kSum, first_input, nullptr, run_scan},
    {"prims.cumprod", numbers, kProduct, first_input, nullptr, run_scan},
    {"prims.prod", numbers, kProduct, first_input, nullptr, run_prod},
    {"prims.cummax", nullptr, kExtremum, first_input, nullptr, run_extremum<1>},
    {"prims.cummin", nullptr, kExtremum, first_input, nullptr, run_extremum<0>},
};

}  // namespace

std::span<const Rule> scan_rules() { return kRules; }

}  // namespace thunder::cuda_lines
