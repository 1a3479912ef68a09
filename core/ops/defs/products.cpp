// Products of matrices and vectors, by decomposition into matmul and elementwise ops.
#include "ops/tables.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;


Results outer(Call& c) {
  require_ranks(c, 0, 1, 1, 1);
  return reshape_to(c.var(0), Shape{c.type(0).shape[0], 1}) * c.var(1);
}
// Over the last dims of both.
Results inner(Call& c) {
  Var a = c.var(0), b = c.var(1);
  if (a.rank() == 0 || b.rank() == 0) return a * b;
  c.require(a.size(-1) == b.size(-1), "the last dims differ; ", c.types());
  return c.builder.call("tensordot", {a, b, 1, Shape{-1}, Shape{-1}});
}
Results vecdot(Call& c) {
  auto v = promoted(c, {0, 1});
  const DType dtype = v[0].dtype();
  Var products = computed(v[0]) * computed(v[1]);
  return convert(c.builder.call("sum", {products, Shape{c.integer(2)}, false, products.dtype()}), dtype);
}

// Moves the contracted dims of a to the end and those of b to the front: then it is one matrix product.
Results tensordot(Call& c) {
  Var a = c.var(0), b = c.var(1);
  Shape left, right;
  if (c.has(3) || c.has(4)) {
    c.require(c.has(3) && c.has(4) && c.dims(3).size() == c.dims(4).size(),
              "needs as many dims of one operand as of the other");
    for (Dim d : c.dims(3)) left.push_back(static_cast<int64_t>(normalize_axis(hint(d), a.rank())));
    for (Dim d : c.dims(4)) right.push_back(static_cast<int64_t>(normalize_axis(hint(d), b.rank())));
  } else {
    const int64_t n = c.integer(2);
    c.require(n >= 0 && static_cast<size_t>(n) <= std::min(a.rank(), b.rank()), "dims ", n,
              " exceeds the rank of an operand; ", c.types());
    for (int64_t i = 0; i < n; i++) left.push_back(static_cast<int64_t>(a.rank()) - n + i), right.push_back(i);
  }
  Dim inside = 1;
  for (size_t i = 0; i < left.size(); i++) {
    // A contracted dim of size 1 is broadcast: it is multiplied by the other operand's sum.
    if (hint(a.size(left[i].value())) == 1)
      b = c.builder.call("sum", {b, Shape{right[i]}, true});
    else if (hint(b.size(right[i].value())) == 1)
      a = c.builder.call("sum", {a, Shape{left[i]}, true});
    const Dim m = a.shape()[static_cast<size_t>(left[i].value())], n = b.shape()[static_cast<size_t>(right[i].value())];
    c.require(m == n, "dims that are summed over differ in size: ", name(m), " and ", name(n), "; ", c.types());
    inside = inside * m;
  }
  const auto others = [](Var x, const Shape& gone) {
    Shape kept;
    for (size_t i = 0; i < x.rank(); i++)
      if (std::find(gone.begin(), gone.end(), Dim(static_cast<int64_t>(i))) == gone.end())
        kept.push_back(static_cast<int64_t>(i));
    return kept;
  };
  const auto joined = [](Shape x, const Shape& y) {
    for (Dim d : y) x.push_back(d);
    return x;
  };
  const auto sizes = [](Var x, const Shape& axes) {
    Shape s;
    for (Dim d : axes) s.push_back(x.shape()[static_cast<size_t>(d.value())]);
    return s;
  };
  const Shape rows = others(a, left), columns = others(b, right);
  const Shape result = joined(sizes(a, rows), sizes(b, columns));
  Var tall = reshape_to(permute_to(a, joined(rows, left)), Shape{elements(sizes(a, rows)), inside});
  Var wide = reshape_to(permute_to(b, joined(right, columns)), Shape{inside, elements(sizes(b, columns))});
  return reshape_to(matmul(tall, wide), result);
}

// Blocks of b, each times an element of a.
Results kron(Call& c) {
  Var a = c.var(0), b = c.var(1);
  const size_t rank = std::max(a.rank(), b.rank());
  Shape left, right, merged;
  for (size_t i = 0; i < rank; i++) {
    const Dim m = i + a.rank() < rank ? Dim(1) : a.shape()[i + a.rank() - rank],
              n = i + b.rank() < rank ? Dim(1) : b.shape()[i + b.rank() - rank];
    left.push_back(m), left.push_back(1), right.push_back(1), right.push_back(n), merged.push_back(m * n);
  }
  return reshape_to(reshape_to(a, left) * reshape_to(b, right), merged);
}
Results cross(Call& c) {
  auto v = promoted(c, {0, 1});
  const auto dim = static_cast<int64_t>(c.axis(2, v[0].rank()));
  c.require(v[0].rank() > 0 && v[0].size(dim) == Dim(3), "dim ", c.integer(2), " must have size 3; ", c.types());
  const auto turned = [&](Var x, int64_t by) { return c.builder.call("roll", {x, Shape{by}, Shape{dim}}); };
  return turned(v[0], -1) * turned(v[1], -2) - turned(v[0], -2) * turned(v[1], -1);
}
// By squares.
Results matrix_power(Call& c) {
  Var x = c.var(0);
  const int64_t given = c.integer(1);
  c.require(x.rank() >= 2 && x.size(-1) == x.size(-2), "input must be square matrices; ", c.types());
  c.require(given > INT64_MIN, "the power ", given, " is too small");
  const int64_t n = given < 0 ? -given : given;
  if (given < 0) x = c.builder.call("linalg_inv", {x});
  if (n == 0) {
    Var i = c.builder.call(Prim::iota, {Shape{x.size(-1)}, DType::i64, x.type().device});
    return expand_to(convert(eq(along_axis(i, 0, 2), along_axis(i, 1, 2)), x.dtype()), x.shape());
  }
  const DType dtype = x.dtype();
  x = computed(x);
  Var power;
  for (int64_t left = n;; x = matmul(x, x)) {
    if (left & 1) power = power ? matmul(power, x) : x;
    if ((left >>= 1) == 0) return convert(power, dtype);
  }
}
// From the left; the first and the last may be vectors.
Results multi_dot(Call& c) {
  auto parts = c.vars(0);
  c.require(parts.size() >= 2, "needs at least two tensors, got ", parts.size());
  const DType dtype = parts[0].dtype();
  Var product = computed(parts[0]);
  for (size_t i = 1; i < parts.size(); i++) {
    c.require(parts[i].dtype() == dtype, "tensors must have one dtype, got ", name(dtype), " and ",
              name(parts[i].dtype()));
    product = matmul(product, computed(parts[i]));
  }
  return convert(product, dtype);
}
Results trace(Call& c) {
  c.require(c.type(0).rank() == 2, "input must be a matrix; ", c.types());
  return c.builder.call("sum", {c.builder.call("diagonal", {c.var(0), 0, 0, 1})});
}
Results bilinear(Call& c) {
  Var a = c.var(0), b = c.var(1), w = c.var(2);
  c.require(w.rank() == 3 && a.rank() >= 1 && b.rank() == a.rank(), "weight must be [out, in1, in2]; ", c.types());
  c.require(a.size(-1) == w.size(1) && b.size(-1) == w.size(2), "the last dims must be weight's in1 and in2; ",
            c.types());
  const DType dtype = w.dtype();
  a = computed(a), b = computed(b), w = computed(w);
  // [..., out, in2] of a and weight, then the sum over in2.
  Var left = c.builder.call("tensordot", {a, w, 1, Shape{-1}, Shape{1}});
  Shape longer = b.shape();
  longer.insert(longer.size() - 1, 1);
  Var y = c.builder.call("sum", {left * reshape_to(b, longer), Shape{-1}, false, left.dtype()});
  return convert(c.has(3) ? y + computed(c.var(3)) : y, dtype);
}

// ---- samples ----

void sample_vectors(Samples& s) {
  s.add({TensorSpec{{3}}, TensorSpec{{4}}});
  s.refuse({TensorSpec{{3}}, TensorSpec{{3, 2}}}, "rank");
}
void sample_inners(Samples& s) {
  s.add({TensorSpec{{3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{4, 5, 3}}});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{2}}}, "last dims");
}
void sample_rows(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}, 0});
}
void sample_dotted(Samples& s) {
  s.add({TensorSpec{{2, 3, 4}}, TensorSpec{{3, 4, 5}}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3, 4}}, 1});
  s.add({TensorSpec{{2, 3, 4}}, TensorSpec{{4, 2}}, 2, Ints{2, 0}, Ints{0, 1}});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4, 2}}, 1}, "differ in size");
}
void sample_krons(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3, 2}}});
  s.add({TensorSpec{{2}}, TensorSpec{{2, 2}}});
}
void sample_crosses(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}});
  s.add({TensorSpec{{3, 2}}, TensorSpec{{3, 1}}, 0});
  s.refuse({TensorSpec{{2, 2}}, TensorSpec{{2, 2}}}, "size 3");
}
void sample_squares(Samples& s) {
  for (int n : {0, 1, 2, 5, -2}) s.add({TensorSpec{{3, 3}}, n});
  s.refuse({TensorSpec{{3, 2}}, 2}, "square");
}
void sample_chains(Samples& s) {
  s.add({std::vector<TensorSpec>{{{2, 3}}, {{3, 4}}, {{4, 2}}}});
  s.refuse({std::vector<TensorSpec>{{{2, 3}}}}, "at least two");
}
void sample_matrices(Samples& s) {
  s.add({TensorSpec{{3, 4}}});
  s.refuse({TensorSpec{{3, 2, 2}}}, "input must");
}
void sample_bilinears(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 4}}, TensorSpec{{5, 3, 4}}, TensorSpec{{5}}});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{2, 4}}, TensorSpec{{5, 4, 3}}}, "in1 and in2");
}

constexpr OpRow kRows[] = {
    composite("outer(tensor input, tensor vec2) -> tensor", CastPolicy::none,
              "The product of each element of one vector with each of another.", outer, sample_vectors),
    composite("ger(tensor input, tensor vec2) -> tensor", CastPolicy::none, "Another name.", outer, sample_vectors, 0,
              {.alias_of = "outer"}),
    composite("inner(tensor input, tensor other) -> tensor", CastPolicy::lower_precision_fp,
              "Sums of products over the last dims of both.", inner, sample_inners),
    composite("vecdot(tensor x, tensor y, int dim=-1) -> tensor", CastPolicy::none, "Scalar products along dim.",
              vecdot, sample_rows),
    composite("tensordot(tensor a, tensor b, int dims=2, int[]? dims_a=None, int[]? dims_b=None) -> tensor",
              CastPolicy::promote,
              "Sums of products over the last dims of a and the first of b, or over dims_a and dims_b.", tensordot,
              sample_dotted),
    composite("kron(tensor input, tensor other) -> tensor", CastPolicy::none,
              "The Kronecker product: other times each element of input, as blocks.", kron, sample_krons),
    composite("cross(tensor input, tensor other, int dim=-1) -> tensor", CastPolicy::promote,
              "The vector product along a dim of size 3.", cross, sample_crosses),
    composite("matrix_power(tensor input, int n) -> tensor", CastPolicy::none,
              "Square matrices to the power of n; a negative one is that of the inverse.", matrix_power,
              sample_squares),
    composite("multi_dot(tensor[] tensors) -> tensor", CastPolicy::lower_precision_fp,
              "The product of several matrices.", multi_dot, sample_chains),
    composite("chain_matmul(tensor[] tensors) -> tensor", CastPolicy::lower_precision_fp, "Another name.", multi_dot,
              sample_chains, 0, {.alias_of = "multi_dot"}),
    composite("trace(tensor input) -> tensor", CastPolicy::none, "The sum of a matrix's diagonal.", trace,
              sample_matrices),
    composite("bilinear(tensor input1, tensor input2, tensor weight, tensor? bias=None) -> tensor", CastPolicy::promote,
              "input1 @ weight[k] @ input2 for each output k, plus bias.", bilinear, sample_bilinears),
};

}  // namespace

extern const OpRows products_ops = kRows;

}  // namespace thunder
