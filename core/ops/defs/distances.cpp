// Distances of the rows of matrices, and how the rows vary together.
#include "ops/tables.h"

namespace thunder {
namespace {

// |x|^2 + |y|^2 - 2 x y for rows x and y; where that is no more than 0, so is the distance, and its gradient.
Var euclidean_by_matmul(Var a, Var b) {
  const auto squares = [](Var x) { return x.builder->call("sum", {x * x, Shape{-1}, true}); };
  Var product = a.builder->call("matmul", {a, swap_last_two(b)});
  Var sum = (squares(a) + swap_last_two(squares(b))) - product * 2.0, apart = gt(sum, 0.0);
  return where(apart, sqrt(where(apart, sum, 1.0)), 0.0);
}

Results cdist(Call& c) {
  Var a = c.var(0), b = c.var(1);
  c.require(a.rank() >= 2 && b.rank() >= 2 && a.size(-1) == b.size(-1), "needs matrices of rows of one length; ",
            c.types());
  // For many rows computed by a matrix product, as in PyTorch: less exact for rows that nearly agree.
  constexpr int64_t kFewRows = 25;
  if (c.real(2) == 2 && is_real(a.dtype()) && a.dtype() == b.dtype() &&
      (hint(a.size(-2)) > kFewRows || hint(b.size(-2)) > kFewRows))
    return convert(euclidean_by_matmul(computed(a), computed(b)), a.dtype());
  Shape rows = a.shape(), columns = b.shape();
  rows.insert(rows.size() - 1, 1), columns.insert(columns.size() - 2, 1);
  return c.builder.call("norm", {reshape_to(a, rows) - reshape_to(b, columns), c.real(2), Shape{-1}});
}
// The distance of each pair of rows, in the order of the upper triangle.
Results pdist(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() == 2 && is_real(x.dtype()) && x.size(0).constant(),
            "input must be a real matrix, whose number of rows is known while tracing; ", c.types());
  c.require(c.real(1) >= 0, "p must not be negative, got ", c.real(1));
  const int64_t n = x.size(0).value();
  Builder& b = c.builder;
  Var pairs = to_device(b.call("triu_indices", {n, n, 1}), x.type().device);
  const auto rows = [&](int64_t which) { return b.call(Prim::take, {x, 0, b.call("select", {pairs, 0, which})}); };
  return b.call("norm", {rows(0) - rows(1), c.real(1), Shape{-1}});
}
Var unweighted_cov(const Call& c, Var x) {
  Var centred = x - mean_kept(x, Shape{1});
  return c.builder.call("matmul", {centred, swap_last_two(centred)}) /
         std::max(0.0, static_cast<double>(x.size(1).value()) - static_cast<double>(c.integer(1)));
}
// Observations that occur fweights times, and count aweights as much.
Var weighted_cov(const Call& c, Var x) {
  Var weights;
  if (c.has(3))
    x = convert(x, common_dtype(c, [&](Promotion& p) {
                  for (const TensorType& t : {x.type(), c.type(3)}) p.add(t.dtype, strength(t));
                }));
  for (size_t i : {2, 3}) {
    if (!c.has(i)) continue;
    c.require(c.type(i).shape == Shape{x.size(1)} && (i == 3 || is_integer(c.type(i).dtype)),
              c.op.schema.params[i].name, " must be ", i == 3 ? "" : "integers, ", "one for each of the ",
              name(x.size(1)), " observations; ", c.types());
    Var w = convert(c.var(i), x.dtype());
    weights = weights ? weights * w : w;
  }
  const auto correction = static_cast<double>(c.integer(1));
  Var sum = c.builder.call("sum", {weights}), freedom = sum - correction;
  if (c.has(3) && correction != 0)
    freedom = sum - c.builder.call("sum", {weights * convert(c.var(3), x.dtype())}) / sum * correction;
  Var mean = c.builder.call("sum", {x * weights, Shape{1}, true}) / sum, centred = x - mean;
  return c.builder.call("matmul", {centred, swap_last_two(centred * weights)}) / maximum(freedom, 0.0);
}
// Rows as variables.
Results cov(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() <= 2, "input must have at most rank 2; ", c.types());
  x = convert(x, to_real(x.dtype()));
  const bool one = x.rank() < 2;  // one variable, as is a single row
  if (one) x = reshape_to(x, Shape{1, elements(x.shape())});
  c.require(x.size(1).constant(), "the number of observations must be known while tracing; ", c.types());
  Var y = c.has(2) || c.has(3) ? weighted_cov(c, x) : unweighted_cov(c, x);
  return one || hint(x.size(0)) == 1 ? reshape_to(y, Shape{}) : y;
}
Results corrcoef(Call& c) {
  Var y = c.builder.call("cov", {c.var(0)});
  if (y.rank() == 0) return y / y;
  Var deviation = sqrt(c.builder.call("diagonal", {y, 0, 0, 1}));
  return clamped(y / along_axis(deviation, 0, 2) / along_axis(deviation, 1, 2), -1, 1);
}

void sample_point_sets(Samples& s) {
  s.add({TensorSpec{{3, 4}}, TensorSpec{{2, 4}}});
  s.add({TensorSpec{{2, 3, 4}}, TensorSpec{{2, 2, 4}}, 1.0});
  s.add({TensorSpec{{3, 4}}, TensorSpec{{2, 4}}, 3.0});
  s.add({TensorSpec{{2, 26, 3}, DType::f64}, TensorSpec{{2, 4, 3}, DType::f64}});
  s.refuse({TensorSpec{{3, 4}}, TensorSpec{{2, 3}}}, "one length");
}
void sample_point_lists(Samples& s) {
  s.add({TensorSpec{{4, 3}}});
  s.add({TensorSpec{{3, 2}, DType::f64}, 1.0});
  s.add({TensorSpec{{1, 2}}, 3.0});
  s.refuse({TensorSpec{{4, 3}}, -1.0}, "must not be negative");
  s.refuse({TensorSpec{{2, 4, 3}}}, "real matrix");
}
void sample_matrices(Samples& s) {
  s.add({TensorSpec{{3, 4}}});
  s.refuse({TensorSpec{{3, 2, 2}}}, "input must");
}

void sample_covariances(Samples& s) {
  sample_matrices(s);
  const TensorSpec times{{4}, DType::i64, 1, 3}, shares{{4}, DType::f32, 0.5, 2};
  s.add({TensorSpec{{3, 4}}, 1, times});
  s.add({TensorSpec{{3, 4}}, 2, times, shares});
  s.add({TensorSpec{{3, 4}}, 0, SampleArg(), shares});
  s.refuse({TensorSpec{{3, 4}}, 1, shares}, "integers");
}

constexpr OpRow kRows[] = {
    composite("cdist(tensor x1, tensor x2, float p=2.0) -> tensor", CastPolicy::fp32,
              "The p-norm of the difference of each row of x1 and each of x2.", cdist, sample_point_sets),
    composite("pdist(tensor input, float p=2.0) -> tensor", CastPolicy::none,
              "The p-norms of the differences of each two rows, in the order of the upper triangle.", pdist,
              sample_point_lists),
    composite("cov(tensor input, int correction=1, tensor? fweights=None, tensor? aweights=None) -> tensor",
              CastPolicy::none,
              "The covariances of the rows of a matrix; a column counts fweights times aweights as much.", cov,
              sample_covariances),
    composite("corrcoef(tensor input) -> tensor", CastPolicy::none, "The correlations of the rows of a matrix.",
              corrcoef, sample_matrices),
};

}  // namespace

extern const OpRows distances_ops = kRows;

}  // namespace thunder
