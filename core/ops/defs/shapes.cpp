// Dims moved, repeated and turned: composites over views, concatenation and reading by index.
#include "ir/dim_reads.h"
#include "base/checked.h"
#include "ops/tables.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;

Var join(std::initializer_list<Var> parts, size_t dim) {
  ValueList ids;
  for (Var v : parts) ids.push_back(v.id);
  return parts.begin()->builder->call(Prim::cat, {ids, static_cast<int64_t>(dim)});
}

// ---- order of dims ----

Shape movedim_order(const Call& c, std::span<const Dim> from, std::span<const Dim> to, size_t rank) {
  c.require(from.size() == to.size(), "source and destination must have as many dims, got ", name(from), " and ",
            name(to));
  const size_t dims = std::max<size_t>(rank, 1);  // a number's dim 0 may be moved to itself
  Shape order(dims, -1);
  SmallVector<bool, 8> used(dims, false);
  for (size_t i = 0; i < from.size(); i++) {
    const size_t a = normalize_axis(hint(from[i]), rank), b = normalize_axis(hint(to[i]), rank);
    c.require(!used[a] && order[b] == Dim(-1), "a dim appears twice in ", name(from), " or ", name(to));
    order[b] = static_cast<int64_t>(a), used[a] = true;
  }
  size_t next = 0;
  for (Dim& d : order) {
    if (!(d == Dim(-1))) continue;
    while (used[next]) next++;
    d = static_cast<int64_t>(next++);
  }
  order.resize(rank);
  return order;
}
Results movedim(Call& c) {
  Var x = c.var(0);
  return permute_to(x, movedim_order(c, c.dims(1), c.dims(2), x.rank()));
}

// ---- flips, rolls, turns ----

Var reverse_dims(Var x, size_t dim) {
  Builder& b = *x.builder;
  const Dim n = x.shape()[dim];
  Var last = full(b, {}, 1, DType::i64, x.type().device),
      place = b.call(Prim::iota, {Shape{n}, DType::i64, x.type().device});
  Var size = n.constant() ? last * n.value() : count(last, {{n}});
  return b.call(Prim::take, {x, static_cast<int64_t>(dim), expand_to(size - last, place.shape()) - place});
}
Var reverse_dims(Var x, std::span<const Dim> dims) {
  for (Dim d : dims) x = reverse_dims(x, static_cast<size_t>(d.value()));
  return x;
}
Results flip(Call& c) {
  Var x = c.var(0);
  const Shape axes = x.rank() == 0 || c.dims(1).empty() ? Shape() : c.axes(1, x.rank());
  if (axes.empty()) return c.builder.call("clone", {x});
  return x.type().device == Device::cpu ? c.builder.call(Prim::flip, {x, axes}) : reverse_dims(x, axes);
}
void flip_vjp(Grad& g) { g.add(0, g.builder.call("flip", {g.cotangent(), g.dims(1)})); }
template <size_t dim>
Results flip_fixed_dim(Call& c) {
  c.require(c.type(0).rank() > dim, "input must have at least rank ", dim + 1, "; ", c.types());
  return c.builder.call("flip", {c.var(0), Shape{static_cast<int64_t>(dim)}});
}

Var roll_dim(Var x, int64_t by, size_t dim) {
  if (!x.rank()) return x;
  const Dim size = x.shape()[dim];
  const int64_t rest = hint(size) == 0 ? 0 : by % hint(size);
  if (rest == 0) return x;
  const Dim start = rest > 0 ? size - rest : Dim(-rest);
  return join({slice(x, dim, start, size), slice(x, dim, 0, start)}, dim);
}
Results roll(Call& c) {
  Var x = c.var(0);
  auto shifts = c.dims(1);
  if (!c.has(2) || c.dims(2).empty()) {
    c.require(shifts.size() == 1, "without dims there is one shift, got ", name(shifts));
    const Shape shape = x.shape();
    return reshape_to(roll_dim(reshape_to(x, Shape{elements(shape)}), hint(shifts[0]), 0), shape);
  }
  c.require(shifts.size() == c.dims(2).size(), "needs a shift for each of dims, got ", name(shifts), " and ",
            name(c.dims(2)));
  for (size_t i = 0; i < shifts.size(); i++)
    x = roll_dim(x, hint(shifts[i]), normalize_axis(hint(c.dims(2)[i]), x.rank()));
  return x;
}
Results rot90(Call& c) {
  Var x = c.var(0);
  c.require(c.dims(2).size() == 2, "dims must be two, got ", name(c.dims(2)));
  const size_t a = normalize_axis(hint(c.dims(2)[0]), x.rank()), b = normalize_axis(hint(c.dims(2)[1]), x.rank());
  c.require(a != b, "dims must be two different ones, got ", name(c.dims(2)));
  const int64_t turns = ((c.integer(1) % 4) + 4) % 4;
  if (turns == 0) return c.builder.call("clone", {x});
  if (turns == 2) return reverse_dims(reverse_dims(x, a), b);
  Shape order = last_axes(x.rank(), x.rank());
  std::swap(order[a], order[b]);
  return turns == 1 ? reverse_dims(permute_to(x, order), a) : permute_to(reverse_dims(x, a), order);
}

// ---- repetitions ----

Results repeat(Call& c) {
  Var x = c.var(0);
  auto times = c.dims(1);
  c.require(times.size() >= x.rank(), "needs a number for each of the input's ", x.rank(), " dims, got ", name(times));
  const size_t lead = times.size() - x.rank();
  Shape split, spread, merged;
  for (size_t i = 0; i < times.size(); i++) {
    c.require(hint(times[i]) >= 0, "repetitions must not be negative, got ", name(times));
    const Dim n = i < lead ? Dim(1) : x.shape()[i - lead];
    split.push_back(1), split.push_back(n);
    spread.push_back(times[i]), spread.push_back(n);
    merged.push_back(times[i] * n);
  }
  return reshape_to(expand_to(reshape_to(x, split), spread), merged);
}
// repeat, with ones in front of too few numbers.
Results tile(Call& c) {
  Shape times(c.dims(1));
  while (times.size() < c.type(0).rank()) times.insert(0, 1);
  return c.builder.call("repeat", {c.var(0), times});
}
// For each position of the result the index of the repeated element. The number of positions is the sum of the
// repetitions, which is read unless it is given.
Var repeat_positions(const Call& c, Var times, size_t total_param) {
  Builder& b = c.builder;
  const Device device = times.type().device;
  if (times.shape()[0] == Dim(0)) return full(b, Shape{0}, 0, DType::i64, device);
  if (!c.has(total_param)) {
    const int64_t least = c.value_of(b.call(Prim::amin, {times, Shape{0}}));
    c.require(least >= 0, "repeats must not be negative, their least is ", least);
  }
  const int64_t total =
      c.has(total_param) ? c.integer(total_param) : c.value_of(b.call(Prim::sum, {times, Shape{0}}));
  c.require(total >= 0, "output_size must not be negative, got ", total);
  Var ends = b.call(Prim::cumsum, {times, 0, false});
  Var place = b.call(Prim::iota, {Shape{total}, DType::i64, device});
  return b.call(Prim::searchsorted, {ends, place, true});
}
Results repeat_interleave(Call& c) {
  const bool tensor = !c.has(1) || c.args[1].kind == ArgKind::value;
  c.require(tensor || c.args[1].kind == ArgKind::integer, "repeats must be an integer or a tensor of integers, got ",
      kind_of(c.args[1]));
  Var x = c.var(0), given = c.has(1) ? tensor ? c.var(1) : Var() : x;
  if (tensor) {
    c.require(is_integer(given.dtype()) && given.rank() <= 1, "repeats must be a vector of integers, or one; ",
        c.types());
    given = convert(reshape_to(given, Shape{elements(given.shape())}), DType::i64);
    if (!c.has(1)) return repeat_positions(c, given, 3);
  }
  if (!c.has(2)) x = reshape_to(x, Shape{elements(x.shape())});
  const size_t dim = c.has(2) ? c.axis(2, x.rank()) : 0;
  c.require(x.rank() > 0, "a tensor of rank 0 has no dim to repeat along");
  if (tensor) {
    const Dim n = x.shape()[dim];
    if (given.shape()[0] == Dim(1)) given = expand_to(given, Shape{n});
    c.require(given.shape()[0] == n, "repeats has ", name(given.shape()[0]), " elements, dim ", dim, " of input has ",
        name(n));
    return c.builder.call(Prim::take, {x, static_cast<int64_t>(dim), repeat_positions(c, given, 3)});
  }
  const int64_t times = c.args[1].i;
  c.require(times >= 0, "repeats must not be negative, got ", times);
  c.require(!c.has(3) || hint(x.shape()[dim] * times) == c.integer(3), "output_size must be ",
      name(x.shape()[dim] * times), ", got ", c.args[3].i);
  Shape split = x.shape(), merged = x.shape();
  split.insert(dim + 1, 1);
  Shape spread = split;
  spread[dim + 1] = times, merged[dim] = merged[dim] * times;
  return reshape_to(expand_to(reshape_to(x, split), spread), merged);
}

Results unflatten(Call& c) {
  Var x = c.var(0);
  const size_t dim = c.axis(1, x.rank());
  c.require(x.rank() > 0, "a tensor of rank 0 has no dim to unflatten");
  Shape shape(x.shape().begin(), x.shape().begin() + dim);
  int64_t known = 1;
  for (Dim d : c.dims(2)) known = checked_mul(known, hint(d) == -1 ? 1 : hint(d));
  for (Dim d : c.dims(2)) shape.push_back(hint(d) == -1 && known > 0 ? x.shape()[dim] / known : d);
  for (size_t i = dim + 1; i < x.rank(); i++) shape.push_back(x.shape()[i]);
  c.require(is_equal(elements(shape), elements(x.shape())), "sizes ", name(c.dims(2)), " do not divide dim ", dim,
            " of ", name(x.type()));
  return reshape_to(x, shape);
}

// ---- samples ----

void sample_moves(Samples& s) {
  s.add({TensorSpec{{}}, Ints{0}, Ints{-1}});
  s.add({TensorSpec{{2, 3, 4}}, 0, -1});
  s.add({TensorSpec{{2, 3, 4}}, Ints{0, 2}, Ints{2, 1}});
  s.refuse({TensorSpec{{2, 3}}, Ints{0, 0}, Ints{0, 1}}, "twice");
}
void sample_flips(Samples& s) {
  s.add({TensorSpec{{2, 3}}, Ints{1}});
  s.add({TensorSpec{{2, 3, 4}}, Ints{0, -1}});
  s.add({TensorSpec{{0, 3}}, Ints{0}});
  s.refuse({TensorSpec{{2, 3}}, Ints{2}}, "out of range");
}
void sample_matrices(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.refuse({TensorSpec{{}}}, "rank");
}
void sample_rolls(Samples& s) {
  s.add({TensorSpec{{2, 5}}, 3});
  s.add({TensorSpec{{2, 5}}, -1, 1});
  s.add({TensorSpec{{3, 4}}, Ints{1, 6}, Ints{0, 1}});
  s.refuse({TensorSpec{{3, 4}}, Ints{1, 2}}, "one shift");
}
void sample_turns(Samples& s) {
  for (int k : {-1, 0, 1, 2}) s.add({TensorSpec{{2, 3}}, k});
  s.add({TensorSpec{{2, 3, 4}}, 3, Ints{0, 2}});
  s.refuse({TensorSpec{{2, 3}}, 1, Ints{0, 0}}, "different");
}
void sample_repeats(Samples& s) {
  s.add({TensorSpec{{2, 3}}, Ints{2, 3}});
  s.add({TensorSpec{{3}}, Ints{2, 2}});
  s.add({TensorSpec{{3}}, Ints{0}});
  s.refuse({TensorSpec{{3}}, Ints{-1}}, "negative");
}
void sample_tiles(Samples& s) {
  s.add({TensorSpec{{2}}, Ints{2, 2}});
  s.add({TensorSpec{{2, 3}}, Ints{2}});
}
void sample_interleaved(Samples& s) {
  s.add({TensorSpec{{2, 3}}, 2});
  s.add({TensorSpec{{2, 3}}, 3, -1});
  s.add({TensorSpec{{2, 3}}, 2, 0, 4});
  s.add_eager({TensorSpec{{3, 2}}, TensorSpec{{3}, DType::i64, 0, 3}, 0});
  s.add_eager({TensorSpec{{2, 3}}, TensorSpec{{1}, DType::i64, 2, 2}, -1});
  s.add_eager({TensorSpec{{2, 2}}, TensorSpec{{4}, DType::i32, 0, 2}});
  s.add_eager({TensorSpec{{5}, DType::i64, 0, 3}});
  s.add({TensorSpec{{3, 2}}, TensorSpec{{3}, DType::i64, 2, 2}, 0, 6});
  s.refuse({TensorSpec{{2, 3}}, -1, 0}, "negative");
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{2}, DType::i64, -1, -1}, 0}, "their least is -1");
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{2}, DType::i64, 1, 1}, 1}, "repeats has 2 elements, dim 1 of input has 3");
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{2}}, 0}, "vector of integers");
  s.refuse({TensorSpec{{2, 3}}, 2, 0, 5}, "output_size must be 4, got 5");
  s.refuse({TensorSpec{{2}}, TensorSpec{{2}, DType::i64, 1, 1}, 0, 3}, "out of range");
}
void sample_unflattened(Samples& s) {
  s.add({TensorSpec{{2, 6}}, 1, Ints{3, -1}});
  s.add({TensorSpec{{4, 3}}, 0, Ints{2, 2}});
  s.refuse({TensorSpec{{2, 6}}, 1, Ints{4, -1}}, "do not divide");
}

constexpr OpRow kRows[] = {
    composite("movedim(tensor input, int[] source, int[] destination) -> tensor", CastPolicy::none,
              "A view with dims moved to other places; the others keep their order.", movedim, sample_moves, kView),
    another_name("moveaxis(tensor input, int[] source, int[] destination) -> tensor", CastPolicy::none, "movedim",
                 sample_moves, kView),
    composite("flip(tensor input, int[] dims) -> tensor", CastPolicy::none,
              "A copy with the order of elements along dims reversed.", flip, sample_flips, 0, {.vjp = flip_vjp}),
    composite("fliplr(tensor input) -> tensor", CastPolicy::none, "A copy with the second dim reversed.",
              flip_fixed_dim<1>, sample_matrices),
    composite("flipud(tensor input) -> tensor", CastPolicy::none, "A copy with the first dim reversed.",
              flip_fixed_dim<0>, sample_matrices),
    composite("roll(tensor input, int[] shifts, int[]? dims=None) -> tensor", CastPolicy::none,
              "Elements moved along dims, what leaves at the end comes in at the front; without dims as one line.",
              roll, sample_rolls),
    composite("rot90(tensor input, int k=1, int[] dims=[0, 1]) -> tensor", CastPolicy::none,
              "A copy turned k times by 90 degrees from the first of dims to the second.", rot90, sample_turns),
    composite("repeat(tensor input, int[] repeats) -> tensor", CastPolicy::none,
              "The tensor side by side with itself, so many times along each dim.", repeat, sample_repeats),
    composite("tile(tensor input, int[] dims) -> tensor", CastPolicy::none,
              "repeat, with ones in front of too few numbers.", tile, sample_tiles),
    composite(
        "repeat_interleave(tensor input, tensor|number? repeats, int? dim=None, int? output_size=None) -> tensor",
        CastPolicy::none,
        "Each element along dim so many times, a tensor of repeats giving each its own; without dim of the flattened "
        "tensor. Without repeats input is them, and the result tells the elements' numbers.",
        repeat_interleave, sample_interleaved, kEager),
    composite("unflatten(tensor input, int dim, int[] sizes) -> tensor", CastPolicy::none,
              "A view with one dim as several, one size of which may be -1.", unflatten, sample_unflattened, kView),
};

}  // namespace

extern const OpRows shapes_ops = kRows;

}  // namespace thunder
