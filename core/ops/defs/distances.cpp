// Distances of the rows of matrices, and how the rows vary together.
#include "ops/tables.h"

namespace thunder {
namespace {

Results cdist(Call& c) {
  Var a = c.var(0), b = c.var(1);
  c.require(a.rank() >= 2 && b.rank() >= 2 && a.size(-1) == b.size(-1), "needs matrices of rows of one length; ",
            c.types());
  Shape rows = a.shape(), columns = b.shape();
  rows.insert(rows.size() - 1, 1), columns.insert(columns.size() - 2, 1);
  return c.builder.call("norm", {reshape_to(a, rows) - reshape_to(b, columns), c.real(2), Shape{-1}});
}
// Rows as variables.
Results cov(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() <= 2, "input must have at most rank 2; ", c.types());
  x = convert(x, to_real(x.dtype()));
  const bool one = x.rank() < 2;  // one variable, as is a single row
  if (one) x = reshape_to(x, Shape{1, elements(x.shape())});
  c.require(x.size(1).constant(), "the number of observations must be known while tracing; ", c.types());
  Var centred = x - mean_kept(x, Shape{1});
  Var y = c.builder.call("matmul", {centred, swap_last_two(centred)}) /
          std::max(0.0, static_cast<double>(x.size(1).value()) - static_cast<double>(c.integer(1)));
  return one || hint(x.size(0)) == 1 ? reshape_to(y, Shape{}) : y;
}
Results corrcoef(Call& c) {
  Var y = c.builder.call("cov", {c.var(0)});
  if (y.rank() == 0) return y / y;
  Var deviation = sqrt(c.builder.call("diagonal", {y, 0, 0, 1}));
  return clamped(y / along_axis(deviation, 0, 2) / along_axis(deviation, 1, 2), -1, 1);
}

void point_sets(Samples& s) {
  s.add({TensorSpec{{3, 4}}, TensorSpec{{2, 4}}});
  s.add({TensorSpec{{2, 3, 4}}, TensorSpec{{2, 2, 4}}, 1.0});
  s.add({TensorSpec{{3, 4}}, TensorSpec{{2, 4}}, 3.0});
  s.refuse({TensorSpec{{3, 4}}, TensorSpec{{2, 3}}}, "one length");
}
void matrices(Samples& s) {
  s.add({TensorSpec{{3, 4}}});
  s.refuse({TensorSpec{{3, 2, 2}}}, "input must");
}

consteval OpRow row(SchemaText schema, std::string_view doc, DecomposeFn decompose, SamplesFn samples) {
  return checked({.schema = schema, .doc = doc, .decompose = decompose, .samples = samples});
}

constexpr OpRow kRows[] = {
    row("cdist(tensor x1, tensor x2, float p=2.0) -> tensor",
        "The p-norm of the difference of each row of x1 and each of x2.", cdist, point_sets),
    row("cov(tensor input, int correction=1) -> tensor", "The covariances of the rows of a matrix.", cov, matrices),
    row("corrcoef(tensor input) -> tensor", "The correlations of the rows of a matrix.", corrcoef, matrices),
};

}  // namespace

void register_distances(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
