// Tensors put together, padded, copied and converted, under PyTorch's names.
#include "base/text.h"
#include "ir/prim.h"
#include "ops/grad.h"
#include "ops/numbers.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// ---- cat, stack ----

DType promote_dtypes(const Call& c, const std::vector<Var>& parts) {
  return common_dtype(c, [&](Promotion& p) {
    for (const Var& v : parts) p.add(v.dtype(), strength(v.type()));
  });
}

Results cat_op(Call& c) {
  auto parts = c.vars(0);
  c.require(!parts.empty(), "needs at least one tensor");
  const DType dtype = promote_dtypes(c, parts);
  ValueList ids;
  for (const Var& v : parts) {
    // As in PyTorch, f32[0] may stand among tensors of any rank.
    const bool skipped = v.rank() == 1 && v.shape()[0] == Dim(0);
    if (!skipped) ids.push_back(convert(v, dtype).id);
  }
  if (ids.empty()) ids.push_back(convert(parts[0], dtype).id);
  return c.builder.call(Prim::cat, {ids, c.integer(1)});
}

Results stack(Call& c) {
  auto parts = c.vars(0);
  c.require(!parts.empty(), "needs at least one tensor");
  const DType dtype = promote_dtypes(c, parts);
  const Shape shape = parts[0].shape();
  const size_t dim = normalize_axis(c.integer(1), shape.size() + 1);
  Shape longer = shape;
  longer.insert(dim, 1);
  ValueList ids;
  for (size_t i = 0; i < parts.size(); i++) {
    c.require(parts[i].shape() == shape, "tensors must have one shape: tensor 0 is ", name(parts[0].type()),
              ", tensor ", i, " is ", name(parts[i].type()));
    ids.push_back(reshape_to(convert(parts[i], dtype), longer).id);
  }
  return c.builder.call(Prim::cat, {ids, static_cast<int64_t>(dim)});
}

// ---- pad ----

// The places along a dim that `mode` reads, for `before` more of them in front and `after` behind. What is cropped is
// no part of a circle.
Var padded_source_positions(const Call& c, std::string_view mode, Var x, size_t dim, int64_t before, int64_t after) {
  const int64_t n = hint(x.shape()[dim]), most = mode == "reflect" ? n - 1 : n;
  const int64_t padded = (Dim(n) + Dim(before) + Dim(after)).value();  // refused where it overflows
  c.require(before >= -n && after >= -n && padded >= 0, "pad takes more from dim ", dim, " than its size ", n);
  c.require(n > 0 && (mode == "replicate" || (before <= most && after <= most)), "mode '", mode, "' pads dim ", dim,
            " of size ", n, " by at most ", std::max<int64_t>(most, 0), " on a side, got ", before, " and ", after);
  const Shape length{x.shape()[dim] + Dim(before + after)};
  Var at = c.builder.call(Prim::iota, {length, DType::i64, x.type().device}) - before;
  if (mode == "replicate") return c.builder.call("clamp", {at, int64_t{0}, n - 1});
  if (mode == "circular") {
    const int64_t first = std::max<int64_t>(-before, 0), left = n - first - std::max<int64_t>(-after, 0);
    return c.builder.call("remainder", {at - first, std::max<int64_t>(left, 1)}) + first;
  }
  // Mirrored at both ends.
  Var from_end = c.builder.call("abs", {c.builder.call("abs", {at}) - (n - 1)});
  return -from_end + (n - 1);
}
Results pad_from_inside(Call& c, Var x) {
  const std::string_view mode = c.text(2);
  auto amounts = c.dims(1);
  c.require(mode == "reflect" || mode == "replicate" || mode == "circular",
            "mode must be 'constant', 'reflect', 'replicate' or 'circular', got '", mode, "'");
  c.require(!c.has(3) || c.real(3) == 0, "mode '", mode, "' takes no value");
  Var out = x;
  for (size_t i = 0; 2 * i < amounts.size(); i++) {
    const size_t dim = x.rank() - 1 - i;
    const int64_t before = hint(amounts[2 * i]), after = hint(amounts[2 * i + 1]);
    if (before || after)
      out = c.builder.call(Prim::take,
                           {out, static_cast<int64_t>(dim), padded_source_positions(c, mode, x, dim, before, after)});
  }
  return out.id == x.id ? c.builder.call(Prim::clone, {x}) : out;
}

Results pad(Call& c) {
  Var x = c.var(0);
  auto amounts = c.dims(1);
  c.require(amounts.size() % 2 == 0 && amounts.size() / 2 <= x.rank(), "pad needs a pair for each of at most ",
            x.rank(), " dims, got ", name(amounts), "; ", c.types());
  if (c.text(2) != "constant") return pad_from_inside(c, x);
  const size_t rank = x.rank();
  Shape low(rank, 0), high(rank, 0), starts(rank, 0), ends = x.shape();
  bool crops = false;
  for (size_t i = 0; 2 * i < amounts.size(); i++) {
    // Pairs go from the last dim to the first.
    const size_t dim = rank - 1 - i;
    const Dim before = amounts[2 * i], after = amounts[2 * i + 1];
    (hint(before) < 0 ? starts[dim] : low[dim]) = hint(before) < 0 ? Dim(0) - before : before;
    if (hint(after) < 0)
      ends[dim] = ends[dim] + after;
    else
      high[dim] = after;
    crops |= hint(before) < 0 || hint(after) < 0;
    c.require(hint(ends[dim]) >= hint(starts[dim]), "pad ", name(amounts), " takes more from dim ", dim,
              " than its size ", name(x.shape()[dim]));
  }
  if (crops) x = c.builder.call(Prim::slice, {x, starts, ends, Shape(rank, 1)});
  if (c.has(3)) require_fits(c, "value", c.args[3], x.dtype());
  return c.builder.call(Prim::pad, {x, low, high, c.has(3) ? c.real(3) : 0.0});
}

// ---- copies and conversions ----

// `from` as a tensor of input's type, in new memory.
Results filled_from(Call& c) {
  Var x = c.var(0), value = to_device(convert_checked(c, 1, x.dtype()), x.type().device);
  const bool fits = value.rank() <= x.rank() && broadcast(x.shape(), value.shape()) == x.shape();
  c.require(fits, "cannot broadcast ", name(value.type()), " to the input's shape ", name(x.shape()));
  return c.builder.call(Prim::clone, {expand_to(value, x.shape())});
}
void filled_from_vjp(Grad& g) {
  // The old contents are gone. A number has no gradient.
  if (g.args[1].kind == ArgKind::value && g.wants(1))
    g.add(1, to_device(sum_to(g.cotangent(), g.type(1).shape), g.type(1).device));
}

Results fill(Call& c) {
  c.require(c.args[1].kind != ArgKind::value || c.type(1).rank() == 0, "value must be a number or a tensor of rank 0; ",
            c.types());
  return filled_from(c);
}

Results to(Call& c) {
  Var x = c.var(0);
  const int32_t kind = c.has(2) ? thunder::kind(c.device(2)) : kCpuKind;
  c.require(kind == kCpuKind || kind == kCudaKind, "the device is ", c.has(2) ? static_cast<int32_t>(c.device(2)) : 0,
            ", which is none; dtype comes before device");
  return to_device(convert(x, c.dtype(1, x.dtype())), c.has(2) ? c.device(2) : x.type().device);
}

// ---- samples ----

std::vector<int64_t> ints(std::initializer_list<int64_t> list) {
  return list;
}

void cat_samples(Samples& s) {
  s.add({std::vector<TensorSpec>{{{2, 3}}, {{1, 3}}}});
  s.add({std::vector<TensorSpec>{{{2, 3}}, {{2, 1}}, {{0}}}, -1});
  s.add({std::vector<TensorSpec>{{{2}}, {{2}, DType::i64}}});
  s.refuse({std::vector<TensorSpec>{{{2, 3}}, {{2, 4}}}}, "agree");
  s.refuse({std::vector<TensorSpec>{}}, "at least one");
  s.refuse({std::vector<TensorSpec>{{{}}, {{}}}}, "rank 0");
}
void stack_samples(Samples& s) {
  s.add({std::vector<TensorSpec>{{{2, 3}}, {{2, 3}}}, -1});
  s.add({std::vector<TensorSpec>{{{}}, {{}}}});
  s.refuse({std::vector<TensorSpec>{{{2}}, {{3}}}}, "one shape");
}
void pad_samples(Samples& s) {
  s.add({TensorSpec{{2, 3}}, ints({1, 2})});
  s.add({TensorSpec{{2, 3}}, ints({-1, 1, 0, -1}), "constant", 2.5});
  s.add({TensorSpec{{2, 3}}, ints({})});
  s.refuse({TensorSpec{{2, 3}}, ints({1})}, "pair");
  s.refuse({TensorSpec{{2, 3}}, ints({-2, -2})}, "more from dim 1");
  s.add({TensorSpec{{2, 4}}, ints({3, 2}), "reflect"});
  s.add({TensorSpec{{3, 2, 3}}, ints({1, 2, 0, 1}), "reflect"});
  s.add({TensorSpec{{2, 3}}, ints({5, 1, -1, 2}), "replicate"});
  s.add({TensorSpec{{2, 3}}, ints({3, 2}), "circular"});
  s.add({TensorSpec{{4, 5}}, ints({-1, 2, 2, -1}), "circular"});
  s.refuse({TensorSpec{{2, 3}}, ints({1, 1}), "mirror"}, "mode must be");
  s.refuse({TensorSpec{{2, 3}}, ints({3, 1}), "reflect"}, "mode 'reflect' pads dim 1 of size 3 by at most 2");
  s.refuse({TensorSpec{{2, 3}}, ints({1, 1}), "circular", 1.0}, "takes no value");
}
void copy_samples(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}, DType::i64}});
  s.refuse({TensorSpec{{3}}, TensorSpec{{2, 3}}}, "broadcast");
}
void fill_samples(Samples& s) {
  s.add({TensorSpec{{2, 3}}, 1.5});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{}}});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{3}}}, "rank 0");
}

constexpr OpRow kRows[] = {
    composite("cat(tensor[] tensors, int dim=0) -> tensor", CastPolicy::none,
              "The tensors one behind the other along dim; dtypes promote.", cat_op, cat_samples),
    composite("stack(tensor[] tensors, int dim=0) -> tensor", CastPolicy::none,
              "The tensors side by side along a new dim.", stack, stack_samples),
    composite("pad(tensor input, int[] pad, str mode='constant', float? value=None) -> tensor", CastPolicy::none,
              "Pads with value (0 for None), or with the mirror image ('reflect'), the edge ('replicate') or the "
              "other end ('circular'): pairs of amounts from the last dim to the first; negative ones crop.",
              pad, pad_samples),
    composite("copy(tensor input, tensor src) -> tensor", CastPolicy::none,
              "src as a tensor of input's shape and dtype; copy_ stores it.", filled_from, copy_samples, kInplace,
              {.vjp = filled_from_vjp}),
    composite("fill(tensor input, tensor|number value) -> tensor", CastPolicy::none,
              "A tensor of input's shape and dtype with one value; fill_ stores it.", fill, fill_samples, kInplace,
              {.vjp = filled_from_vjp}),
    composite(
        "contiguous(tensor input) -> tensor", CastPolicy::none, "The input itself if it is dense, else a dense copy.",
        [](Call& c) -> Results { return c.builder.call(Prim::contiguous, {c.var(0)}); },
        [](Samples& s) {
          s.add({TensorSpec{{2, 3}}});
        },
        kMayView | kReturnsSelf),
    composite(
        "clone(tensor input) -> tensor", CastPolicy::none, "A dense copy.",
        [](Call& c) -> Results { return c.builder.call(Prim::clone, {c.var(0)}); },
        [](Samples& s) {
          s.add({TensorSpec{{2, 3}}});
        }),
    composite(
        "to(tensor input, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
        "The input as another dtype, on another device; the input itself if it is both.", to,
        [](Samples& s) {
          s.add({TensorSpec{{2, 3}}, DType::f64});
          s.add({TensorSpec{{2}}});
        },
        kMayView | kReturnsSelf),
};

}  // namespace

extern const OpRows arrange_ops = kRows;

}  // namespace thunder
