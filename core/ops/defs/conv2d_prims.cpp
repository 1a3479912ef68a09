// The prims of conv2d: itself and its two gradients. Each is linear in both of its operands, and the gradients of the
// three are each other.
#include "base/text.h"
#include "ir/dim_reads.h"
#include "ops/batch.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/matrix_product.h"
#include "ops/pair.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// ---- what the three prims share: image [n, c, h, w], weight [o, c / groups, kh, kw], output [n, o, h', w'] ----

struct Window {
  std::array<int64_t, 2> stride, padding, dilation;
  int64_t groups;
};
Window read_window(std::span<const Arg> args, size_t first) {
  return {pair_of(args[first]), pair_of(args[first + 1]), pair_of(args[first + 2]), args[first + 3].i};
}

// Gives the output's shape. Checks the operands and the window from parameter `first` on, again for each size.
Shape output_shape(const Call& c, const Shape& image, const Shape& weight, size_t first) {
  c.require(image.size() == 4, "input must be [batch, channels, height, width]; ", c.types());
  c.require(weight.size() == 4, "weight must be [out, channels / groups, height, width]; ", c.types());
  require_pair(c, first, 1), require_pair(c, first + 1, 0), require_pair(c, first + 2, 1);
  const Window w = read_window(c.args, first);
  c.require(w.groups >= 1, "groups must be at least 1, got ", w.groups);
  c.require(unnoted_hint(image[1]) % w.groups == 0 && unnoted_hint(weight[0]) % w.groups == 0, "groups ", w.groups,
            " must divide the channels ", name(image[1]), " and the outputs ", name(weight[0]), "; ", c.types());
  c.require(weight[1] * w.groups == image[1], "input has ", name(image[1]), " channels, weight takes ",
            name(weight[1] * w.groups), " in ", w.groups, " groups; ", c.types());
  Shape out{image[0], weight[0], 0, 0};
  for (size_t i = 0; i < 2; i++) {
    const Dim padded = image[2 + i] + 2 * w.padding[i], reach = (weight[2 + i] - 1) * w.dilation[i] + 1;
    c.require(unnoted_hint(weight[2 + i]) >= 1 && unnoted_hint(padded) >= unnoted_hint(reach),
              "the kernel reaches over ", name(reach), " pixels, the padded input has ", name(padded), "; ", c.types());
    out[2 + i] = (padded - reach) / w.stride[i] + 1;
  }
  return out;
}

TensorType checked_operand_type(const Call& c) {
  const TensorType &a = c.type(0), &b = c.type(1);
  c.require(a.dtype == b.dtype && a.device == b.device, "operands must have one dtype and device, got ", name(a.dtype),
            " and ", name(b.dtype), "; ", c.types());
  c.require(a.dtype != DType::boolean, "operands must be numbers, got booleans; ", c.types());
  return a;
}

// ---- kernels: products of matrices, one for each group ----

// The positions of three neighbouring axes from `axis` on, counted as one.
AxisPositions positions_of_three_axes(const Buffer& b, int axis) {
  return {.size = {b.shape[axis], b.shape[axis + 1], b.shape[axis + 2]},
          .offset = {b.strides[axis], b.strides[axis + 1], b.strides[axis + 2]}};
}
// Positions in the last two axes; the first of three does not advance.
AxisPositions plane_positions(const Buffer& b) {
  return {.size = {1, b.shape[2], b.shape[3]}, .offset = {0, b.strides[2], b.strides[3]}};
}

Image image_layout(const Buffer& b) {
  return {.height = b.shape[2], .width = b.shape[3], .row = b.strides[2], .column = b.strides[3]};
}

// The kernel's taps [channel, kh, kw] as moves in an image whose channels are `channel_stride` apart.
AxisPositions tap_positions(int64_t channels, const Buffer& weight, int64_t channel_stride,
                            std::array<int64_t, 2> step) {
  return {.size = {channels, weight.shape[2], weight.shape[3]},
          .offset = {channel_stride, 0, 0},
          .y = {0, step[0], 0},
          .x = {0, 0, step[1]}};
}

char* address_along_axis(const Buffer& b, int axis, int64_t i) {
  return b.as<char>() + i * b.strides[axis] * static_cast<int64_t>(size_of(b.dtype));
}
// The address at which group `g` of `count` along `axis` begins.
char* address_of_group(const Buffer& b, int axis, int64_t g, int64_t count) {
  return address_along_axis(b, axis, g * (b.shape[axis] / count));
}

// out[o, p] = sum over taps of weight[o, tap] * image[pixel of p and tap]
Status* forward(const KernelArgs& k) {
  const Buffer &x = k.in[0], &w = k.in[1], &y = k.out[0];
  const Window win = read_window(k.args, 2);
  const int64_t outputs = w.shape[0] / win.groups, item = static_cast<int64_t>(size_of(x.dtype));
  for (int64_t n = 0; n < x.shape[0]; n++)
    for (int64_t g = 0; g < win.groups; g++) {
      Operand left, right;
      left.data = address_of_group(w, 0, g, win.groups);
      left.outer = AxisPositions::strided(w.strides[0]), left.inner = positions_of_three_axes(w, 1);
      right.data = address_of_group(x, 1, g, win.groups) + n * x.strides[0] * item;
      right.outer = {.size = {1, y.shape[2], y.shape[3]}, .y = {0, win.stride[0], 0}, .x = {0, 0, win.stride[1]},
                     .first_y = -win.padding[0], .first_x = -win.padding[1]};
      right.inner = tap_positions(w.shape[1], w, x.strides[1], win.dilation);
      right.image = image_layout(x);
      const ProductOutput out{address_of_group(y, 1, g, win.groups) + n * y.strides[0] * item,
                              AxisPositions::strided(y.strides[1]), plane_positions(y)};
      matrix_product(x.dtype, left, right, out, outputs, y.shape[2] * y.shape[3], w.shape[1] * w.shape[2] * w.shape[3]);
    }
  return nullptr;
}

// dx[c, pixel] = sum over taps of weight[tap, c] * dy[position at which the tap covered the pixel], for positions that
// are multiples of the stride.
Status* input_grad(const KernelArgs& k) {
  const Buffer &dy = k.in[0], &w = k.in[1], &dx = k.out[0];
  const Window win = read_window(k.args, 3);
  const int64_t outputs = w.shape[0] / win.groups, item = static_cast<int64_t>(size_of(dx.dtype));
  for (int64_t n = 0; n < dx.shape[0]; n++)
    for (int64_t g = 0; g < win.groups; g++) {
      Operand left, right;
      left.data = address_of_group(w, 0, g, win.groups);
      left.outer = AxisPositions::strided(w.strides[1]);
      left.inner = {.size = {outputs, w.shape[2], w.shape[3]}, .offset = {w.strides[0], w.strides[2], w.strides[3]}};
      right.data = address_of_group(dy, 1, g, win.groups) + n * dy.strides[0] * item;
      right.outer = {.size = {1, dx.shape[2], dx.shape[3]},
                     .y = {0, 1, 0},
                     .x = {0, 0, 1},
                     .first_y = win.padding[0],
                     .first_x = win.padding[1]};
      right.inner = tap_positions(outputs, w, dy.strides[1], {-win.dilation[0], -win.dilation[1]});
      right.image = image_layout(dy);
      right.image.step_y = win.stride[0], right.image.step_x = win.stride[1];
      const ProductOutput out{address_of_group(dx, 1, g, win.groups) + n * dx.strides[0] * item,
                              AxisPositions::strided(dx.strides[1]), plane_positions(dx)};
      matrix_product(dx.dtype, left, right, out, w.shape[1], dx.shape[2] * dx.shape[3],
                     outputs * w.shape[2] * w.shape[3]);
    }
  return nullptr;
}

// dw[o, tap] = sum over batch and p of dy[n, o, p] * image[n, pixel of p and tap]
Status* weight_grad(const KernelArgs& k) {
  const Buffer &dy = k.in[0], &x = k.in[1], &dw = k.out[0];
  const Window win = read_window(k.args, 3);
  const int64_t outputs = dw.shape[0] / win.groups;
  for (int64_t g = 0; g < win.groups; g++) {
    Operand left, right;
    left.data = address_of_group(dy, 1, g, win.groups);
    left.outer = AxisPositions::strided(dy.strides[1]);
    left.inner = {.size = {dy.shape[0], dy.shape[2], dy.shape[3]},
                  .offset = {dy.strides[0], dy.strides[2], dy.strides[3]}};
    right.data = address_of_group(x, 1, g, win.groups);
    right.outer = tap_positions(dw.shape[1], dw, x.strides[1], win.dilation);
    right.inner = {.size = left.inner.size,
                   .offset = {x.strides[0], 0, 0},
                   .y = {0, win.stride[0], 0},
                   .x = {0, 0, win.stride[1]},
                   .first_y = -win.padding[0],
                   .first_x = -win.padding[1]};
    right.image = image_layout(x);
    const ProductOutput out{address_of_group(dw, 0, g, win.groups), AxisPositions::strided(dw.strides[0]),
                            positions_of_three_axes(dw, 1)};
    matrix_product(dw.dtype, left, right, out, outputs, dw.shape[1] * dw.shape[2] * dw.shape[3],
                   dy.shape[0] * dy.shape[2] * dy.shape[3]);
  }
  return nullptr;
}

// ---- prims ----

void forward_meta(const Call& c, Types& out) {
  TensorType t = checked_operand_type(c);
  t.shape = output_shape(c, t.shape, c.type(1).shape, 2);
  out.push(t);
}
void grad_meta(const Call& c, Types& out, const Shape& image, const Shape& weight, const Shape& result) {
  TensorType t = checked_operand_type(c);
  const Shape dy = output_shape(c, image, weight, 3);
  c.require(t.shape == dy, "grad must have shape ", name(dy), ", got ", name(t.shape), "; ", c.types());
  t.shape = result;
  out.push(t);
}
void input_grad_meta(const Call& c, Types& out) {
  grad_meta(c, out, Shape(c.dims(2)), c.type(1).shape, Shape(c.dims(2)));
}
void weight_grad_meta(const Call& c, Types& out) {
  grad_meta(c, out, c.type(1).shape, Shape(c.dims(2)), Shape(c.dims(2)));
}

// The three, with the window of this call, whose arguments begin at `first`.
Var call_conv2d(const Grad& g, Var x, Var w, size_t first) {
  return g.builder.call(Prim::conv2d, {x, w, g.args[first], g.args[first + 1], g.args[first + 2], g.args[first + 3]});
}
Var call_input_grad(const Grad& g, Var dy, Var w, const Shape& image, size_t first) {
  return g.builder.call(Prim::conv2d_input_grad,
                        {dy, w, image, g.args[first], g.args[first + 1], g.args[first + 2], g.args[first + 3]});
}
Var call_weight_grad(const Grad& g, Var dy, Var x, const Shape& weight, size_t first) {
  return g.builder.call(Prim::conv2d_weight_grad,
                        {dy, x, weight, g.args[first], g.args[first + 1], g.args[first + 2], g.args[first + 3]});
}

void forward_vjp(Grad& g) {
  if (g.wants(0)) g.add(0, call_input_grad(g, g.cotangent(), g.var(1), g.type(0).shape, 2));
  if (g.wants(1)) g.add(1, call_weight_grad(g, g.cotangent(), g.var(0), g.type(1).shape, 2));
}
void input_grad_vjp(Grad& g) {
  if (g.wants(0)) g.add(0, call_conv2d(g, g.cotangent(), g.var(1), 3));
  if (g.wants(1)) g.add(1, call_weight_grad(g, g.var(0), g.cotangent(), g.type(1).shape, 3));
}
void weight_grad_vjp(Grad& g) {
  if (g.wants(0)) g.add(0, call_conv2d(g, g.var(1), g.cotangent(), 3));
  if (g.wants(1)) g.add(1, call_input_grad(g, g.var(0), g.cotangent(), g.type(1).shape, 3));
}

using Pair = std::vector<int64_t>;
void forward_samples(Samples& s) {
  s.add({TensorSpec{{2, 4, 6, 5}}, TensorSpec{{6, 2, 3, 2}}, Pair{2, 1}, Pair{1, 0}, Pair{1, 2}, 2});
  s.refuse({TensorSpec{{2, 4, 6, 5}}, TensorSpec{{6, 3, 3, 2}}, 1, 0, 1, 1}, "input has 4 channels, weight takes 3");
}
void input_grad_samples(Samples& s) {
  s.add({TensorSpec{{2, 6, 3, 3}}, TensorSpec{{6, 2, 3, 2}}, Pair{2, 4, 6, 5}, Pair{2, 1}, Pair{1, 0}, Pair{1, 2}, 2});
  s.refuse(
      {TensorSpec{{2, 6, 3, 4}}, TensorSpec{{6, 2, 3, 2}}, Pair{2, 4, 6, 5}, Pair{2, 1}, Pair{1, 0}, Pair{1, 2}, 2},
      "grad must have shape [2, 6, 3, 3], got [2, 6, 3, 4]");
}
void weight_grad_samples(Samples& s) {
  s.add({TensorSpec{{2, 6, 3, 3}}, TensorSpec{{2, 4, 6, 5}}, Pair{6, 2, 3, 2}, Pair{2, 1}, Pair{1, 0}, Pair{1, 2}, 2});
  s.refuse({TensorSpec{{2, 6, 3, 3}, DType::f64}, TensorSpec{{2, 4, 6, 5}}, Pair{6, 2, 3, 2}, Pair{2, 1}, Pair{1, 0},
            Pair{1, 2}, 2},
           "got f64 and f32");
}
// ---- over a batch: examples are more images, or with weights of their own more groups of channels ----

Var images_as_groups(const Batch& b, size_t arg) {
  Var x = permute_to(b.operand(arg), Shape{1, 0, 2, 3, 4});
  return reshape_to(x, Shape{x.size(0), x.size(1) * x.size(2), x.size(3), x.size(4)});
}
Results images_of_groups(const Batch& b, Var x) {
  return permute_to(reshape_to(x, Shape{x.size(0), b.size(), b.example(0).shape[1], x.size(2), x.size(3)}),
                    Shape{1, 0, 2, 3, 4});
}
In multiply_groups_by_batch(const Batch& b, size_t groups_at) { return hint(b.size()) * b.integer(groups_at); }

Results batch_forward(Batch& b) {
  if (!b.batched(1))
    return b.parted(
        b.builder.call(Prim::conv2d, {b.merged(0), b.args[1], b.args[2], b.args[3], b.args[4], b.args[5]}), 0);
  return images_of_groups(b, b.builder.call(Prim::conv2d, {images_as_groups(b, 0), b.merged(1), b.args[2], b.args[3],
                                                             b.args[4], multiply_groups_by_batch(b, 5)}));
}
Results batch_input_grad(Batch& b) {
  Shape size(b.dims(2));
  size[b.batched(1) ? 1 : 0] = size[b.batched(1) ? 1 : 0] * b.size();
  if (!b.batched(1))
    return b.parted(b.builder.call(Prim::conv2d_input_grad,
                                   {b.merged(0), b.args[1], size, b.args[3], b.args[4], b.args[5], b.args[6]}),
                    0);
  return images_of_groups(
      b, b.builder.call(Prim::conv2d_input_grad, {images_as_groups(b, 0), b.merged(1), size, b.args[3], b.args[4],
                                                    b.args[5], multiply_groups_by_batch(b, 6)}));
}
Results batch_weight_grad(Batch& b) {
  Shape size(b.dims(2));
  size[0] = size[0] * b.size();
  return b.parted(
      b.builder.call(Prim::conv2d_weight_grad, {images_as_groups(b, 0), images_as_groups(b, 1), size, b.args[3],
                                                  b.args[4], b.args[5], multiply_groups_by_batch(b, 6)}),
      0);
}

// Each element of the output takes the weights of one of its channels; the gradients multiply the same pairs.
template <size_t output, size_t weight>
double count_products(const TensorType& left, const TensorType& right, const TensorType& result) {
  const std::array of = {&left.shape, &right.shape, &result.shape};
  const double pairs = double(elements(*of[output]).value()) * double(elements(*of[weight]).value());
  return pairs / double(std::max<int64_t>(1, (*of[weight])[0].value()));
}

constexpr OpRow kRows[] = {
    primitive("prims.conv2d(tensor input, tensor weight, int[] stride, int[] padding, int[] dilation, int "
              "groups) -> tensor",
              "Two-dimensional cross-correlation.", forward_meta, forward, forward_vjp, kMatmul,
              {.batch = batch_forward, .samples = forward_samples, .multiply_adds = count_products<2, 1>}),
    primitive("prims.conv2d_input_grad(tensor grad, tensor weight, int[] input_size, int[] stride, int[] "
              "padding, int[] dilation, int groups) -> tensor",
              "The gradient of prims.conv2d's input.", input_grad_meta, input_grad, input_grad_vjp, kMatmul,
              {.batch = batch_input_grad, .samples = input_grad_samples, .multiply_adds = count_products<0, 1>}),
    primitive("prims.conv2d_weight_grad(tensor grad, tensor input, int[] weight_size, int[] stride, int[] "
              "padding, int[] dilation, int groups) -> tensor",
              "The gradient of prims.conv2d's weight.", weight_grad_meta, weight_grad, weight_grad_vjp, kMatmul,
              {.batch = batch_weight_grad, .samples = weight_grad_samples, .multiply_adds = count_products<0, 2>}),
};

}  // namespace

extern const OpRows conv2d_prims_ops = kRows;

}  // namespace thunder
