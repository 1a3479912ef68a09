// The cumulative sum along a dim, and what it is made of.
#include "ops/elementwise.h"
#include "ops/fold.h"

namespace thunder {
namespace {

void scan_meta(const Call& c, Types& out) {
  c.axis(1, c.type(0).rank());
  out.push(c.type(0));
}

// f32 and bf16 are added up in wider types, each sum rounded once; integers wrap around.
template <class T>
using Total = std::conditional_t<std::is_same_v<T, float>, double, std::conditional_t<kWraps<T>, uint64_t, Compute<T>>>;

template <class T>
void scan(const T* in, int64_t step, T* out, int64_t out_step, int64_t n) {
  Total<T> sum(0);
  for (int64_t i = 0; i < n; i++) {
    sum = static_cast<Total<T>>(sum + static_cast<Total<T>>(in[i * step]));
    out[i * out_step] = static_cast<T>(sum);
  }
}

Status* scan_kernel(const Kernel& k) {
  const Buffer &in = k.in[0], &out = k.out[0];
  const size_t rank = static_cast<size_t>(in.rank), axis = normalize_axis(k.args[1].i, rank);
  const bool reverse = k.args[2].i;
  const int64_t n = rank ? in.shape[axis] : 1, step = rank ? in.strides[axis] : 0, out_step = rank ? out.strides[axis] : 0;
  Walk lines;
  for (size_t i = rank; i-- > 0;)
    if (i != axis) lines.add(in.shape[i], in.strides[i], out.strides[i]);
  if (n == 0) return nullptr;
  by_dtype(in.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t line = 0; line < lines.count; line++, lines.next(0)) {
      const T* from = in.as<T>() + lines.offset;
      T* to = out.as<T>() + lines.out_offset;
      if (reverse) scan(from + (n - 1) * step, -step, to + (n - 1) * out_step, -out_step, n);
      else scan(from, step, to, out_step, n);
    }
  });
  return nullptr;
}

Results cumsum(Call& c) {
  Var x = c.var(0);
  x = convert(x, c.dtype(2, is_real(x.dtype()) ? x.dtype() : DType::i64));
  c.axis(1, x.rank());
  return c.builder.call("prims.cumsum", {x, c.integer(1), false});
}

constexpr OpRow kPrim = checked({
    .schema = "prims.cumsum(tensor input, int dim, bool reverse) -> tensor",
    .doc = "Each element's sum with those before it along dim, or with those after it; bf16 and f32 are added up in a wider type.",
    .meta = scan_meta,
    .reference = scan_kernel,
    .vjp = [](Grad& g) { g.add(0, g.builder.call("prims.cumsum", {g.cotangent(), g.args[1], !g.args[2].i})); },
});
constexpr OpRow kOp = checked({
    .schema = "cumsum(tensor input, int dim, dtype? dtype=None) -> tensor",
    .doc = "The sum of each element and those before it along dim; of integers and booleans as i64 unless a dtype is given.",
    .decompose = cumsum,
    .samples =
        [](Samples& s) {
          s.add({TensorSpec{{2, 3}}, 1});
          s.add({TensorSpec{{5, 3, 7}}, 0});
          s.add({TensorSpec{{5, 3, 7}}, -2});
          s.add({TensorSpec{{33}}, 0});
          s.add({TensorSpec{{}}, 0});
          s.add({TensorSpec{{2, 0}}, 1});
          s.add({TensorSpec{{4}, DType::bf16}, 0});
          s.add({TensorSpec{{2, 4}, DType::i32, -9, 9}, 1});
          s.refuse({TensorSpec{{2, 3}}, 2}, "2");
        },
});

}  // namespace

void register_cumsum(Registry& r) { r.add(kPrim), r.add(kOp); }

}  // namespace thunder
