// Elementwise functions of integers outside of fusion's regions: divisions, which refuse a zero, and functions of bits.
#include "executors/cuda/indices.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

using Pair = OffsetCalculator<2>;  // mirrored in the text

#define THUNDER_CUDA_PAIR(FUNCTION)                                                                                    \
  THUNDER_CUDA_INDICES                                                                                                \
  "struct Pair { i64 rank, sizes[8], steps[2][8]; };\n"                                                               \
  "__device__ inline bool shifts_out(C b) { return b < 0 || (u64)b >= 8 * sizeof(T); }\n"                             \
  "__device__ inline C left(C a, C b) { return shifts_out(b) ? (C)0 : (C)(T)((u64)a << b); }\n"                       \
  "__device__ inline C right(C a, C b) { return shifts_out(b) ? (C)(a < 0 ? -1 : 0) : (C)(a >> b); }\n"               \
  "extern \"C\" __global__ void kernel(\n"                                                                            \
  "    T* out, const T* x, const T* y, const Pair w, i64 count, DeviceAssertion* assertion) {\n"                      \
  "  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count; at += (i64)gridDim.x * blockDim.x) {\n"    \
  "    const C a = get(x[offset(w, 0, at)]), b = get(y[offset(w, 1, at)]);\n"                                         \
  "    out[at] = put((C)(" FUNCTION "));\n"                                                                           \
  "  }\n"                                                                                                             \
  "}\n"

constexpr char kDiv[] = THUNDER_CUDA_PAIR("quotient(a, b, 0, assertion)");
constexpr char kFmod[] = THUNDER_CUDA_PAIR("remainder_of(a, b, 0, assertion)");
constexpr char kAnd[] = THUNDER_CUDA_PAIR("a & b");
constexpr char kOr[] = THUNDER_CUDA_PAIR("a | b");
constexpr char kXor[] = THUNDER_CUDA_PAIR("a ^ b");
constexpr char kLeft[] = THUNDER_CUDA_PAIR("left(a, b)");
constexpr char kRight[] = THUNDER_CUDA_PAIR("right(a, b)");

bool has_integers(const NodeView& view) {
  return is_integer(first_input_dtype(view)) && view.store.type(view.node.args[0].v).rank() <= kMostDims;
}
bool has_supported_rank(const NodeView& view) {
  return view.store.type(view.node.args[0].v).rank() <= kMostDims;
}

Status* run_pair(const CompiledNode& kernel, const Launch& l) {
  const Buffer& out = l.outputs[0];
  Pair pair;
  for (size_t d = 0; d < static_cast<size_t>(out.rank); d++)
    pair.add(out.shape[d], {l.inputs[0].strides[d], l.inputs[1].strides[d]});
  void *to = out.data, *x = l.inputs[0].data, *y = l.inputs[1].data;
  int64_t count = out.elements();
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  void* parameters[] = {&to, &x, &y, &pair, &count, &assertion};
  return kernel.launch(count, false, parameters);
}

std::string division_by_zero_message(const NodeView&) { return "div: an integer is divided by zero"; }

constexpr Rule bitwise_rule(std::string_view op, const char* text,
                            bool (*takes)(const NodeView&) = has_supported_rank) {
  return {.op = op, .takes = takes, .text = text, .element = first_input_dtype, .run = run_pair, .flags = kStrided};
}
constexpr Rule division_rule(std::string_view op, const char* text) {
  return {.op = op,
          .takes = has_integers,
          .text = text,
          .element = first_input_dtype,
          .run = run_pair,
          .flags = kStrided,
          .refused = division_by_zero_message};
}

constexpr Rule kRules[] = {
    division_rule(name(Prim::div), kDiv),
    division_rule(name(Prim::fmod), kFmod),
    bitwise_rule(name(Prim::bitwise_and), kAnd),
    bitwise_rule(name(Prim::bitwise_or), kOr),
    bitwise_rule(name(Prim::bitwise_xor), kXor),
    bitwise_rule(name(Prim::bitwise_left_shift), kLeft, has_integers),
    bitwise_rule(name(Prim::bitwise_right_shift), kRight, has_integers),
};

}  // namespace

extern const Rules integers_rules = kRules;

}  // namespace thunder::cuda_kernels
