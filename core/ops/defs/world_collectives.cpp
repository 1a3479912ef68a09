// Collectives over the ranks of a named axis, as programs write them.
#include "ops/world_collectives.h"

#include "ops/samples.h"
#include "ops/tables.h"

namespace thunder {
namespace {

int64_t ranks_of(const Call& c, size_t axis) {
  try {
    return ranks_along(c.builder.registry(), c.text(axis));
  } catch (const Error& e) {
    fail(e.code(), c.op.name(), ": ", e.message());
  }
}

// 16-bit floats are summed as f32 and rounded once. `reduce` gets the operand and the reduction of a prim.
template <class F>
Var reduced(Call& c, int64_t ranks, F&& reduce) {
  Var x = c.var(0);
  const DType dtype = x.dtype();
  const std::string_view reduction = c.text(2);
  const bool mean = reduction == "mean";
  c.require(mean || reduction == "sum" || reduction == "max" || reduction == "min",
            "reduction must be 'sum', 'mean', 'max' or 'min', got '", reduction, "'");
  c.require(!mean || is_real(dtype), "a mean is of real numbers; ", c.types());
  Var y = reduce(convert(x, compute_dtype(dtype)), mean ? "sum" : reduction);
  return convert(mean && ranks > 1 ? y / static_cast<double>(ranks) : y, dtype);
}

Results all_reduce(Call& c) {
  const int64_t ranks = ranks_of(c, 1);
  return reduced(c, ranks, [&](Var x, std::string_view reduction) {
    return c.builder.call(Prim::all_reduce, {x, c.args[1], ranks, reduction});
  });
}

// The op along the first dim, on the operand with `dim` there.
template <class F>
Var along_dim(Call& c, Var x, size_t dim_at, F&& first_dim) {
  c.require(x.rank() > 0, "input must have a dim, got ", name(x.type()));
  const auto dim = static_cast<int64_t>(c.axis(dim_at, x.rank()));
  return c.builder.call("movedim", {first_dim(c.builder.call("movedim", {x, dim, 0})), 0, dim});
}

Results all_gather(Call& c) {
  const int64_t ranks = ranks_of(c, 1);
  return along_dim(c, c.var(0), 2,
                   [&](Var x) { return c.builder.call(Prim::all_gather, {x, c.args[1], ranks, false}); });
}

Results reduce_scatter(Call& c) {
  const int64_t ranks = ranks_of(c, 1);
  return reduced(c, ranks, [&](Var wide, std::string_view reduction) {
    return along_dim(c, wide, 3, [&](Var x) {
      const Dim n = x.shape()[0];
      c.require(hint(n % Dim(ranks)) == 0, "dim ", c.integer(3), " of input, ", name(c.type(0)),
                ", cannot be divided among the ", ranks, " ranks of axis '", c.text(1), "'; pad it");
      return c.builder.call(Prim::reduce_scatter, {x, c.args[1], ranks, reduction});
    });
  });
}

// The parts along one dim, each of them joined along another.
Results all_to_all(Call& c) {
  const int64_t ranks = ranks_of(c, 1);
  Builder& b = c.builder;
  Var x = c.var(0);
  c.require(x.rank() > 0, "input must have a dim, got ", name(x.type()));
  const size_t split = c.axis(2, x.rank()), concat = c.axis(3, x.rank());
  const Dim n = x.shape()[split];
  c.require(hint(n % Dim(ranks)) == 0, "dim ", c.integer(2), " of input, ", name(x.type()),
            ", cannot be divided among the ", ranks, " ranks of axis '", c.text(1), "'; pad it");
  Shape parts = x.shape();
  parts[split] = n / Dim(ranks);
  parts.insert(split, Dim(ranks));
  x = b.call("movedim", {b.call("reshape", {x, parts}), static_cast<int64_t>(split), 0});
  x = b.call(Prim::all_to_all, {x, c.args[1], ranks});
  x = b.call("movedim", {x, 0, static_cast<int64_t>(concat)});
  Shape joined = x.shape();
  joined[concat + 1] = joined[concat] * joined[concat + 1];
  joined.erase(concat);
  return b.call("reshape", {x, joined});
}
Results ppermute(Call& c) {
  return c.builder.call(Prim::ppermute, {c.var(0), c.args[1], ranks_of(c, 1), c.args[2], c.args[3]});
}
Results barrier(Call& c) {
  return c.builder.call(Prim::barrier, {c.var(0), c.args[1], ranks_of(c, 1)});
}

Results broadcast(Call& c) {
  return c.builder.call(Prim::broadcast, {c.var(0), c.args[1], ranks_of(c, 1), c.args[2]});
}
Results pvary(Call& c) {
  return c.builder.call(Prim::pvary, {c.var(0), c.args[1], ranks_of(c, 1)});
}

void reduction_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}});
  s.add({TensorSpec{{3}}, "world", "mean"});
  s.add_without_gradient({TensorSpec{{3}}, "world", "max"});
  s.add({TensorSpec{{2, 0}, DType::f64}, "world", "sum"});
  s.add({TensorSpec{{5}, DType::bf16}, "world", "mean"});
  s.add({integers({6}, -9, 9), "world", "min"});
  s.add({TensorSpec{{3}, DType::u8, 0, 9}, "world", "sum"});
  s.refuse({TensorSpec{{2}}, "rows"}, "no axis 'rows'");
  s.refuse({TensorSpec{{2}}, "world", "product"}, "reduction");
  s.refuse({integers({2}, -9, 9), "world", "mean"}, "real");
  s.refuse({TensorSpec{{2}, DType::boolean, 0, 1}, "world", "sum"}, "booleans");
}
void gather_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}});
  s.add({TensorSpec{{2, 3, 2}}, "world", -1});
  s.add({TensorSpec{{0, 3}, DType::f16}, "world", 1});
  s.add({TensorSpec{{3}, DType::boolean, 0, 1}});
  s.refuse({TensorSpec{{}}}, "dim");
}
void samples_of_one(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{}, DType::bf16}, "world"});
  s.add({integers({0, 2}, -9, 9), "world"});
}

using Ranks = std::vector<int64_t>;

constexpr OpRow kRows[] = {
    composite("all_reduce(tensor input, str axis='world', str reduction='sum') -> tensor", CastPolicy::none,
              "The sum, mean, max or min of input over the ranks of an axis, the same on each of them.", all_reduce,
              reduction_samples),
    composite("all_gather(tensor input, str axis='world', int dim=0) -> tensor", CastPolicy::none,
              "The inputs of all ranks of an axis, joined along dim in the order of ranks.", all_gather,
              gather_samples),
    composite(
        "reduce_scatter(tensor input, str axis='world', str reduction='sum', int dim=0) -> tensor", CastPolicy::none,
        "This rank's part, along dim, of the sum, mean, max or min of input over the ranks of an axis.", reduce_scatter,
        [](Samples& s) {
          reduction_samples(s);
          s.add({TensorSpec{{4, 3}}, "world", "mean", 1});
          s.refuse({TensorSpec{{}}}, "dim");
        }),
    composite("broadcast(tensor input, str axis='world', int root=0) -> tensor", CastPolicy::none,
              "The input of one rank of an axis, the same on each of them.", broadcast,
              [](Samples& s) {
                samples_of_one(s);
                s.refuse({TensorSpec{{2}}, "world", 1}, "root");
              }),
    composite("all_to_all(tensor input, str axis='world', int split_dim=0, int concat_dim=0) -> tensor",
              CastPolicy::none,
              "The parts, along split_dim, that the ranks of an axis have for this one, joined along concat_dim in the "
              "order of ranks: rank i has the i-th part of each.",
              all_to_all,
              [](Samples& s) {
                gather_samples(s);
                s.add({TensorSpec{{2, 3, 2}}, "world", 0, 2});
                s.add({TensorSpec{{4, 0}, DType::f64}, "world", 1, -2});
                s.refuse({TensorSpec{{2}}, "rows"}, "no axis 'rows'");
              }),
    composite("ppermute(tensor input, str axis, int[] sources, int[] targets) -> tensor", CastPolicy::none,
              "The input of the rank that sends to this one: each of sources, which are ranks of an axis, sends to the "
              "rank at its place in targets. Ranks to which nobody sends have zeros.",
              ppermute,
              [](Samples& s) {
                s.add({TensorSpec{{2, 3}}, "world", Ranks{0}, Ranks{0}});
                s.add({TensorSpec{{3}, DType::bf16}, "world", Ranks{}, Ranks{}});
                s.add({integers({0, 2}, -9, 9), "world", Ranks{0}, Ranks{0}});
                s.refuse({TensorSpec{{2}}, "world", Ranks{0}, Ranks{1}}, "from 0 to 0");
                s.refuse({TensorSpec{{2}}, "world", Ranks{0, 0}, Ranks{0, 0}}, "twice");
                s.refuse({TensorSpec{{2}}, "world", Ranks{0}, Ranks{}}, "one of targets");
              }),
    composite("barrier(tensor input, str axis='world') -> tensor", CastPolicy::none,
              "The input, once all ranks of an axis are here.", barrier, samples_of_one),
    composite("pvary(tensor input, str axis='world') -> tensor", CastPolicy::none,
              "A view of a value that all ranks of an axis have in common, as one of each rank's own: its gradient is "
              "the sum over the ranks.",
              pvary, samples_of_one, kView),
    composite(
        "axis_index(str axis='world') -> tensor", CastPolicy::none, "The number of this rank along an axis, an i64.",
        [](Call& c) -> Results { return ranks_of(c, 0), c.builder.call(Prim::axis_index, {c.args[0]}); },
        [](Samples& s) { s.add({}), s.refuse({"rows"}, "no axis 'rows'"); }, 0, {.nondiff = "it has no operands"}),
};

}  // namespace

extern const OpRows world_collectives_ops = kRows;

}  // namespace thunder
