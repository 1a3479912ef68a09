#include "passes/fold.h"

#include <array>

#include "ops/kernels.h"
#include "ops/widened.h"
#include "passes/constants.h"

namespace thunder {
namespace {

// A tensor of one element, without allocation.
struct Element {
  alignas(8) std::array<std::byte, 8> bytes{};
};
// The sizes and strides of a tensor of one element, of any rank.
constexpr auto kOnes = [] {
  std::array<int64_t, kMaxRank> ones{};
  ones.fill(1);
  return ones;
}();

Buffer element_buffer(Element& e, DType dtype, size_t rank) {
  Buffer b;
  b.data = e.bytes.data();
  b.shape = b.strides = kOnes.data();
  b.rank = static_cast<int32_t>(rank);
  b.dtype = dtype;
  return b;
}

void store(Element& e, const Arg& value, DType dtype) {
  by_element(dtype, [&](auto t) {
    using T = decltype(t);
    const T stored = value.kind == ArgKind::real ? converted<T>(value.f) : converted<T>(value.i);
    std::memcpy(e.bytes.data(), &stored, sizeof(T));
  });
}

// Empty if an i64 cannot represent it: a u64 beyond.
std::optional<Arg> load(const Element& e, DType dtype) {
  return by_element(dtype, [&](auto t) -> std::optional<Arg> {
    using T = decltype(t);
    T stored;
    std::memcpy(&stored, e.bytes.data(), sizeof(T));
    if constexpr (!std::is_integral_v<T>) return Arg::real(static_cast<double>(static_cast<Compute<T>>(stored)));
    else if constexpr (!std::is_same_v<T, uint64_t>) return Arg::integer(static_cast<int64_t>(stored));
    else return stored <= INT64_MAX ? std::optional(Arg::integer(static_cast<int64_t>(stored))) : std::nullopt;
  });
}

bool has_one_element(const TensorType& t) {
  bool one = true;
  for (Dim d : t.shape) one &= d == Dim(1);
  return one;
}

std::optional<Arg> evaluate(const Rewriter& r, const Node& n) {
  const OpDef& op = def(n);
  const DType out_dtype = r.type(n.results[0]).dtype;
  std::array<Element, 4> elements;
  SmallVector<Buffer, 4> in;
  for (size_t i = 0; i < n.args.size(); i++) {
    const Arg& a = n.args[i];
    if (a.kind == ArgKind::values) return std::nullopt;
    if (a.kind == ArgKind::none && op.schema.params[i].kind == ParamKind::tensor) in.push_back(Buffer{.rank = -1});
    if (a.kind != ArgKind::value) continue;
    const TensorType& t = r.type(a.v);
    const auto value = constant_value(r, a.v);
    if (!value || in.size() == elements.size() - 1) return std::nullopt;
    store(elements[in.size()], *value, t.dtype);
    in.push_back(element_buffer(elements[in.size()], t.dtype, op.has(kElementwise) ? 0 : t.rank()));
  }
  const Buffer out = element_buffer(elements.back(), out_dtype, op.has(kElementwise) ? 0 : r.type(n.results[0]).rank());
  // A node whose kernel fails is not folded, so that it fails when the program runs.
  if (Status* refused = run_reference(op, {in, {&out, 1}, n.args, &op})) return refused->release(), std::nullopt;
  return load(elements.back(), out_dtype);
}

bool can_fold(const Rewriter& r, const Node& n) {
  const OpDef& op = def(n);
  // Ops that check their data may fail, so they run with the program. So do kernels of callers, which expect the ranks
  // that their op has.
  if (op.has(kChecksData)) return false;
  if (!op.prim || !op.pure || !op.has_kernel() || op.view || n.results.size() != 1) return false;
  bool inputs = false, single = has_one_element(r.type(n.results[0]));
  for_each_value(n.args, [&](ValueId v) { inputs = true, single &= has_one_element(r.type(v)); });
  return inputs && (single || op.has(kElementwise));
}

}  // namespace

std::optional<Trace> fold(const Trace& trace, PassContext& context) {
  Rewriter rewriter(trace, context.registry);
  for (const Node* old : trace.nodes) {
    const Node* node = rewriter.substituted(old);
    const auto value = can_fold(rewriter, *node) ? evaluate(rewriter, *node) : std::nullopt;
    if (value) {
      const ValueId result = node->results[0];
      if (rewriter.replace(result, make_constant(rewriter, *value, TensorType(rewriter.type(result)), *node))) continue;
    }
    rewriter.keep(node);
  }
  return rewriter.finish();
}

}  // namespace thunder
