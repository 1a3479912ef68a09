#include "jit/programs/c_ops.h"

#include "base/text.h"
#include "executors/cpu/products/batched_product.h"

namespace thunder {
namespace {

struct At {
  const CPlaces& places;
  const Step& step;
  size_t number;

  const BufferPlan& in(size_t i) const { return places.buffer(step, i); }
  const BufferPlan& out(size_t i = 0) const { return places.result(step, i); }
  const Arg& arg(size_t i) const { return step.node->args[i]; }
  bool all_f32() const {
    for (size_t i = 0; i < size_t{step.n_inputs} + step.n_outputs; i++)
      if (places.buffer(step, i).dtype != DType::f32) return false;
    return true;
  }
};
using Write = std::optional<CStatement> (*)(const At& at);

// ---- products ----

float* fake_address(size_t i) {
  return reinterpret_cast<float*>((i + 1) << 20);
}

// Operands are told apart by addresses that are none.
std::string format_product_call(const At& at, const ProductRow<float>& row) {
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < size_t{at.step.n_inputs} + at.step.n_outputs; i++) {
    const BufferPlan& b = at.in(i);
    Buffer made;
    made.rank = b.rank, made.dtype = b.dtype;
    if (b.rank >= 0)
      made.shape = at.places.sizes(b).data(), made.strides = at.places.strides(b).data(), made.data = fake_address(i);
    buffers.push_back(made);
  }
  Launch launch;
  launch.inputs = buffers.data(), launch.n_inputs = at.step.n_inputs;
  launch.outputs = buffers.data() + at.step.n_inputs, launch.n_outputs = at.step.n_outputs;
  BatchedProduct<float> all = row.products(&launch);
  all.simplify();
  const Product& p = all.each;
  std::vector<int64_t> batch, a, b, c;
  for (size_t i = 0; i < all.rank; i++) {
    batch.push_back(all.batch[i].size);
    a.push_back(all.batch[i].a), b.push_back(all.batch[i].b), c.push_back(all.batch[i].c);
  }
  const auto operand = [&](const float* data, std::span<const int64_t> by) {
    for (size_t i = 0; i < buffers.size(); i++)
      if (data == fake_address(i)) return cat(at.places.elements(at.in(i)), c_offset(by));
    fail(Code::internal, "a product reads what is none of its operands");
  };
  return cat("    ", c_loops(batch), "product(", p.m, ", ", p.n, ", ", p.k, ", ", operand(p.a.data, a), ", ", p.a.row,
             ", ", p.a.column, ", ", operand(p.b.data, b), ", ", p.b.row, ", ", p.b.column, ", ",
             all.bias ? operand(all.bias, {}) : "NULL", ", ", all.bias_step, ", ", operand(p.c, c), ", ", p.c_row,
             ");\n");
}

// ---- updates ----

// As in the op's kernel, all indices are checked before anything is stored.
std::optional<CStatement> index_put(const At& at) {
  if (at.arg(3).i) return std::nullopt;  // it adds
  const BufferPlan &in = at.in(0), &values = at.in(at.step.n_inputs - 1), &out = at.out();
  const size_t count = at.step.n_inputs - 2, lead = static_cast<size_t>(at.in(1).rank);
  std::string reads, checks, offset;
  for (size_t k = 0; k < count; k++) {
    const BufferPlan& index = at.in(k + 1);
    const int64_t size = at.places.sizes(out)[k];
    append(reads,
           cat("const int64_t n", k, " = *(", at.places.elements(index), c_offset(at.places.strides(index)), "); "));
    append(checks, cat("if (n", k, " < ", -size, " || n", k, " >= ", size, ") return ", at.number, "; "));
    append(offset, cat(" + (n", k, " < 0 ? n", k, " + ", size, " : n", k, ") * ", at.places.byte_strides(out)[k]));
  }
  const std::string loops = c_loops(at.places.sizes(at.in(1)));
  std::vector<int64_t> by = at.places.byte_strides(values);
  by.resize(lead);
  const bool in_place = at.places.place(in) == at.places.place(out);
  return CStatement{cat(in_place ? "" : at.places.copy(in, out), "    ", loops, "{ ", reads, checks, "}\n    {\n",
                        "        static const int64_t sizes[] = ", c_list(at.places.sizes(out).subspan(count)),
                        ", to[] = ", c_list(at.places.byte_strides(out, count)), ", from[] = ",
                        c_list(at.places.byte_strides(values, lead)), ";\n        ", loops, "{ ", reads, "copy(",
                        static_cast<size_t>(out.rank) - count, ", sizes, ", at.places.place(out), offset, ", to, ",
                        at.places.place(values), c_offset(by), ", from, ", size_of(out.dtype), "); }\n    }\n")};
}

// ---- convolutions and pools ----

std::string format_pair(const Arg& a) {
  const auto dims = a.dim_list();
  return cat("{ ", dims[0].value(), ", ", dims[dims.size() - 1].value(), " }");
}

// x, w, y: the image, the weight and what a convolution makes of them, whichever of the three this op computes.
std::optional<CStatement> convolution(const At& at, std::string_view function, const BufferPlan& x, const BufferPlan& w,
                                      const BufferPlan& y, size_t window) {
  if (!at.all_f32()) return std::nullopt;
  const auto xs = at.places.sizes(x), ws = at.places.sizes(w), ys = at.places.sizes(y);
  const int64_t groups = at.arg(window + 3).i;
  return CStatement{
      cat("    {\n        static const struct convolution of = { ", xs[0], ", ", groups, ", ", ws[0] / groups, ", ",
          ws[1], ", ", ws[2], ", ", ws[3], ", ", xs[2], ", ", xs[3], ", ", ys[2], ", ", ys[3], ",\n            ",
          format_pair(at.arg(window)), ", ", format_pair(at.arg(window + 1)), ", ", format_pair(at.arg(window + 2)),
          ", ", c_list(at.places.strides(x)), ", ", c_list(at.places.strides(w)), ", ", c_list(at.places.strides(y)),
          " };\n        ", function, "(&of, ", at.places.elements(x), ", ", at.places.elements(w), ", ",
          at.places.elements(y), ");\n    }\n"),
      kCConvolutions};
}
std::optional<CStatement> conv2d(const At& at) {
  return convolution(at, "convolution", at.in(0), at.in(1), at.out(), 2);
}
std::optional<CStatement> conv2d_input_grad(const At& at) {
  return convolution(at, "convolution_input_grad", at.out(), at.in(1), at.in(0), 3);
}
std::optional<CStatement> conv2d_weight_grad(const At& at) {
  return convolution(at, "convolution_weight_grad", at.in(1), at.out(), at.in(0), 3);
}

std::string format_planes(const At& at, const BufferPlan& x, const BufferPlan& y) {
  const auto xs = at.places.sizes(x), ys = at.places.sizes(y);
  return cat("{ ", xs[0], ", ", xs[1], ", ", xs[2], ", ", xs[3], ", ", ys[2], ", ", ys[3]);
}

std::optional<CStatement> max_pool2d(const At& at) {
  const BufferPlan &x = at.in(0), &y = at.out(), &index = at.out(1);
  if (x.dtype != DType::f32) return std::nullopt;
  return CStatement{
      cat("    {\n        static const struct pool of = ", format_planes(at, x, y), ", ", format_pair(at.arg(1)), ", ",
          format_pair(at.arg(2)), ", ", format_pair(at.arg(3)), ", ", format_pair(at.arg(4)), " };\n",
          "        static const int64_t x[] = ", c_list(at.places.strides(x)), ", y[] = ", c_list(at.places.strides(y)),
          ", at[] = ", c_list(at.places.strides(index)), ";\n        max_pool(&of, ", at.places.elements(x), ", x, ",
          at.places.elements(y), ", y, ", at.places.elements(index), ", at);\n    }\n"),
      kCPools};
}

std::optional<CStatement> max_pool2d_backward(const At& at) {
  const BufferPlan &grad = at.in(0), &index = at.in(1), &dx = at.out();
  if (grad.dtype != DType::f32) return std::nullopt;
  return CStatement{cat("    {\n        static const struct pool of = ", format_planes(at, dx, grad),
                        ", { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } };\n        static const int64_t dx[] = ",
                        c_list(at.places.strides(dx)), ", grad[] = ", c_list(at.places.strides(grad)),
                        ", at[] = ", c_list(at.places.strides(index)), ";\n        if (max_pool_backward(&of, ",
                        at.places.elements(grad), ", grad, ", at.places.elements(index), ", at, ",
                        at.places.elements(dx), ", dx)) return ", at.number, ";\n    }\n"),
                    kCPools};
}

// ---- random numbers ----

// Elements are drawn by their numbers in a dense tensor.
std::optional<CStatement> draw_statement(const At& at, std::string_view call) {
  const auto sizes = at.places.sizes(at.out());
  if (!is_dense(sizes, at.places.strides(at.out()))) return std::nullopt;
  int64_t count = 1;
  for (const int64_t n : sizes) count *= n;
  return CStatement{cat("    ", call, ", ", count, ", ", at.places.elements(at.out()), ");\n"), kCRandom};
}
std::string format_draw_call(const At& at, std::string_view function) {
  return cat(function, "(", at.places.elements(at.in(0)), ", ", at.arg(1).i);
}
std::optional<CStatement> normal(const At& at) {
  return at.out().dtype == DType::f32 ? draw_statement(at, format_draw_call(at, "draw_normal")) : std::nullopt;
}
std::optional<CStatement> uniform(const At& at) {
  return at.out().dtype == DType::f32 ? draw_statement(at, format_draw_call(at, "draw_uniform")) : std::nullopt;
}
std::optional<CStatement> randint(const At& at) {
  const auto low = static_cast<uint64_t>(at.arg(2).i), n = static_cast<uint64_t>(at.arg(3).i) - low;
  return draw_statement(at, cat(format_draw_call(at, "draw_integers"), ", ", low, "u, ", n, "u"));
}
std::optional<CStatement> advance(const At& at) {
  return CStatement{cat("    advance(", at.places.elements(at.in(0)), ", ", at.arg(1).i, ", ",
                        at.places.elements(at.out()), ");\n"),
                    kCRandom};
}

// What C is written for beside loop nests and products; a program with another op outside of those is refused.
struct Row {
  Prim prim;
  Write write;
};
constexpr Row kRows[] = {
    {Prim::index_put, index_put},
    {Prim::conv2d, conv2d},
    {Prim::conv2d_input_grad, conv2d_input_grad},
    {Prim::conv2d_weight_grad, conv2d_weight_grad},
    {Prim::max_pool2d, max_pool2d},
    {Prim::max_pool2d_backward, max_pool2d_backward},
    {Prim::philox_uniform, uniform},
    {Prim::philox_normal, normal},
    {Prim::philox_randint, randint},
    {Prim::advance_random, advance},
};
constexpr PrimTable kTable{kRows};

}  // namespace

std::optional<CStatement> c_statement(const CPlaces& places, const Step& step, size_t number) {
  const At at{places, step, number};
  const std::string_view op = step.node->op->name();
  for (const ProductRow<float>& row : kProductRows<float>)
    if (op == row.op && at.out().dtype == DType::f32) return CStatement{format_product_call(at, row)};
  const Row* row = kTable.find(step.node->op->id);
  return row ? row->write(at) : std::nullopt;
}

}  // namespace thunder
