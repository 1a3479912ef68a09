// Sums of a tensor and a product of matrices or vectors, each scaled.
#include "ops/tables.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;


// beta * input + alpha * product, which is one of operands of dtype `of`; a beta of 0 keeps NaN of the input out.
Results add_scaled_product(Call& c, Var product, DType of, size_t beta, size_t alpha) {
  const auto scaled = [](Var x, double by) {
    return by == 1 ? x : is_real(x.dtype()) ? x * by : x * static_cast<int64_t>(by);
  };
  Var x = c.var(0);
  const DType dtype = common_dtype(
      c, [&](Promotion& p) { p.add(x.dtype(), strength(x.type())), p.add(of, strength(product.type())); });
  if (is_real(product.dtype())) x = computed(x);
  for (size_t i : {beta, alpha})
    c.require(is_real(product.dtype()) || c.real(i) == std::trunc(c.real(i)), c.op.schema.params[i].name,
              " must be whole for operands of ", name(product.dtype()), ", got ", c.real(i));
  product = scaled(product, c.real(alpha));
  const Shape shape = broadcast(product.shape(), x.shape());
  c.require(shape == product.shape(), "input does not broadcast to the product's shape ", name(product.shape()), "; ",
            c.types());
  return convert(c.real(beta) == 0 ? product : scaled(x, c.real(beta)) + product, dtype);
}
// The product in f32 for narrower reals, so that the sum is rounded once.
Var multiply_operands(const Call& c) {
  const DType a = c.type(1).dtype, b = c.type(2).dtype;
  c.require(a == b, "operands must have one dtype, got ", name(a), " and ", name(b), "; ", c.types());
  return matmul(computed(c.var(1)), computed(c.var(2)));
}
template <size_t left, size_t right>
Results decompose_added_product(Call& c) {
  require_ranks(c, 1, left, 2, right);
  return add_scaled_product(c, multiply_operands(c), c.type(1).dtype, 3, 4);
}
// With 16-bit reals and a bias vector it is a linear layer, which executors have kernels for.
Results addmm(Call& c) {
  require_ranks(c, 1, 2, 2, 2);
  const TensorType &x = c.type(0), &a = c.type(1), &b = c.type(2);
  const bool one = x.dtype == a.dtype && a.dtype == b.dtype && c.real(3) == 1 && c.real(4) == 1;
  if (!one || !is_half(x.dtype) || x.shape != Shape{b.shape[1]}) return decompose_added_product<2, 2>(c);
  return c.builder.call("linear", {c.var(1), swap_last_two(c.var(2)), c.var(0)});
}
Results addbmm(Call& c) {
  require_ranks(c, 1, 3, 2, 3);
  Var product = multiply_operands(c);
  return add_scaled_product(c, c.builder.call("sum", {product, Shape{0}, false, product.dtype()}), c.type(1).dtype, 3,
                            4);
}
Results addr(Call& c) {
  require_ranks(c, 1, 1, 2, 1);
  Var product = c.builder.call("outer", {computed(c.var(1)), computed(c.var(2))});
  const DType of = common_dtype(c, [&](Promotion& p) {
    for (size_t i : {1, 2}) p.add(c.type(i).dtype, strength(c.type(i)));
  });
  if (c.type(0).dtype != DType::boolean || product.dtype() != DType::boolean)
    return add_scaled_product(c, product, of, 3, 4);
  // For booleans, the logical or of the two; an operand whose factor is zero does not count.
  Var x = c.real(3) != 0 ? expand_to(c.var(0), product.shape()) : full_like(product, 0);
  return c.real(4) != 0 ? either(x, product) : x;
}

// ---- samples ----

template <int... sizes>
constexpr auto shape = [] { return Ints{sizes...}; };

template <auto a, auto b>
void sample_sums(Samples& s) {
  s.add({TensorSpec{{}}, TensorSpec{a()}, TensorSpec{b()}});
  s.add({TensorSpec{{1}}, TensorSpec{a()}, TensorSpec{b()}, 0.5, 2.0});
  s.refuse({TensorSpec{{1}}, TensorSpec{{2, 2, 2, 2}}, TensorSpec{b()}}, "rank");
}

constexpr OpRow kRows[] = {
    composite("addmm(tensor input, tensor mat1, tensor mat2, float beta=1, float alpha=1) -> tensor",
              CastPolicy::lower_precision_fp, "beta * input + alpha * (mat1 @ mat2).", addmm,
              sample_sums<shape<2, 3>, shape<3, 4>>, kInplace),
    composite("addmv(tensor input, tensor mat, tensor vec, float beta=1, float alpha=1) -> tensor",
              CastPolicy::lower_precision_fp, "beta * input + alpha * (mat @ vec).", decompose_added_product<2, 1>,
              sample_sums<shape<2, 3>, shape<3>>, kInplace),
    composite("baddbmm(tensor input, tensor batch1, tensor batch2, float beta=1, float alpha=1) -> tensor",
              CastPolicy::lower_precision_fp, "beta * input + alpha * (batch1 @ batch2).",
              decompose_added_product<3, 3>, sample_sums<shape<2, 2, 3>, shape<2, 3, 4>>, kInplace),
    composite("addbmm(tensor input, tensor batch1, tensor batch2, float beta=1, float alpha=1) -> tensor",
              CastPolicy::lower_precision_fp, "beta * input + alpha * the sum of batch1 @ batch2 over the batch.",
              addbmm, sample_sums<shape<2, 2, 3>, shape<2, 3, 4>>, kInplace),
    composite("addr(tensor input, tensor vec1, tensor vec2, float beta=1, float alpha=1) -> tensor",
              CastPolicy::lower_precision_fp, "beta * input + alpha * outer(vec1, vec2).", addr,
              sample_sums<shape<3>, shape<4>>, kInplace),
};

}  // namespace

extern const OpRows added_products_ops = kRows;

}  // namespace thunder
