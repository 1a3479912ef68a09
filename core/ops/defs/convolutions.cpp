// Convolutions of one and three dims, and transposed ones, by conv2d's prims.
#include <algorithm>

#include "base/checked.h"
#include "ops/convolved.h"
#include "ops/same_padding.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// One value for each of `dims` dims; a single one counts for all.
Shape read_dims_option(const Call& c, size_t param, std::span<const Dim> given, size_t dims, int64_t least) {
  const std::string& what = c.op.schema.params[param].name;
  c.require(given.size() == 1 || given.size() == dims, what, " must have one value or ", dims, ", got ", name(given));
  for (Dim d : given)
    c.require(hint(d) >= least && hint(d) <= INT32_MAX, what, " must be between ", least, " and 2147483647, got ",
              name(given));
  return given.size() == dims ? Shape(given) : Shape(dims, given[0]);
}
Shape read_dims_option(const Call& c, size_t param, size_t dims, int64_t least) {
  return read_dims_option(c, param, c.dims(param), dims, least);
}
Var insert_dim(Var x, size_t at) {
  Shape shape = x.shape();
  shape.insert(at, 1);
  return reshape_to(x, shape);
}
Var remove_dim(Var x, size_t at) {
  Shape shape = x.shape();
  shape.erase(at);
  return reshape_to(x, shape);
}
void require_operands(const Call& c, size_t dims) {
  const TensorType &x = c.type(0), &w = c.type(1);
  c.require(x.rank() == dims + 1 || x.rank() == dims + 2, "input must have ", dims + 1, " or ", dims + 2, " dims; ",
            c.types());
  c.require(w.rank() == dims + 2, "weight must have ", dims + 2, " dims; ", c.types());
  c.require(x.dtype == w.dtype, "input and weight must have one dtype, got ", name(x.dtype), " and ", name(w.dtype),
            "; ", c.types());
}
Var add_bias(const Call& c, Var y, Dim channels) {
  if (!c.has(2)) return y;
  c.require(c.type(2).shape == Shape{channels}, "bias must have shape [", name(channels), "], got ",
            name(c.type(2).shape), "; ", c.types());
  c.require(c.type(2).dtype == c.type(0).dtype, "bias must have the input's dtype; ", c.types());
  return y + along_axis(convert(c.var(2), y.dtype()), 1, y.rank());
}
// Adds a batch dim to an input without one, and removes it from the result.
template <class F>
Results apply_with_batch(Call& c, size_t dims, F f) {
  require_operands(c, dims);
  Var x = convolved(c.var(0));
  const bool single = x.rank() == dims + 1;
  Var y = convert(f(single ? insert_dim(x, 0) : x, convolved(c.var(1))), c.type(0).dtype);
  return single ? remove_dim(y, 0) : y;
}

// ---- forward: input, weight, bias, stride, padding, dilation, groups ----

Results conv1d(Call& c) {
  return apply_with_batch(c, 1, [&](Var x, Var w) {
    const Shape around = padding_of(c, x, w, 1);
    const Dim stride = read_dims_option(c, 3, 1, 1)[0], padding = read_dims_option(c, 4, around, 1, 0)[0],
              dilation = read_dims_option(c, 5, 1, 1)[0];
    Var y = c.builder.call(Prim::conv2d, {insert_dim(x, 2), insert_dim(w, 2), Shape{1, stride}, Shape{0, padding},
                                            Shape{1, dilation}, c.integer(6)});
    return add_bias(c, remove_dim(y, 2), w.size(0));
  });
}

// [n, c, d, h, w] as [n * d, c, h, w].
Var fold_depth_into_batch(Var x) {
  const Shape& s = x.shape();
  return reshape_to(permute_to(x, Shape{0, 2, 1, 3, 4}), Shape{s[0] * s[2], s[1], s[3], s[4]});
}
// And back, of planes of another size.
Var unfold_depth_from_batch(Var x, Dim batch, Dim depth) {
  const Shape& s = x.shape();
  return permute_to(reshape_to(x, Shape{batch, depth, s[1], s[2], s[3]}), Shape{0, 2, 1, 3, 4});
}
Var slice_depth(Var x, Dim start, Dim end, Dim step) {
  Shape starts(5u, 0), ends = x.shape(), steps(5u, 1);
  starts[2] = start, ends[2] = end, steps[2] = step;
  return x.builder->call(Prim::slice, {x, starts, ends, steps});
}
Shape plane_dims(const Shape& v) {
  return {v[1], v[2]};
}
Var slice_weight_plane(Var w, int64_t k) {
  return remove_dim(slice_depth(w, k, k + 1, 1), 2);
}

// Computed as a sum of 2-d convolutions over the kernel's depth.
Results conv3d(Call& c) {
  return apply_with_batch(c, 3, [&](Var x, Var w) {
    const Shape around = padding_of(c, x, w, 3);
    const Shape stride = read_dims_option(c, 3, 3, 1), padding = read_dims_option(c, 4, around, 3, 0),
                dilation = read_dims_option(c, 5, 3, 1);
    const int64_t kernel = hint(w.size(2)), reach = checked_add(checked_mul(kernel - 1, hint(dilation[0])), 1),
                  deep = checked_add(hint(x.size(2)), checked_mul(2, hint(padding[0])));
    c.require(kernel >= 1 && deep >= reach, "the kernel reaches over ", reach, " planes, the padded input has ", deep,
              "; ", c.types());
    const int64_t results = (deep - reach) / hint(stride[0]) + 1;
    x = computed(x), w = computed(w);  // partial sums are not rounded
    x = c.builder.call(Prim::pad, {x, Shape{0, 0, padding[0], 0, 0}, Shape{0, 0, padding[0], 0, 0}, 0.0});
    Var y;
    for (int64_t k = 0; k < kernel; k++) {
      const int64_t start = checked_mul(k, hint(dilation[0]));
      Var part = fold_depth_into_batch(slice_depth(
          x, start, checked_add(start, checked_add(checked_mul(results - 1, hint(stride[0])), 1)), stride[0]));
      Var sum = c.builder.call(Prim::conv2d, {part, slice_weight_plane(w, k), plane_dims(stride), plane_dims(padding),
                                                plane_dims(dilation), c.integer(6)});
      y = y ? y + sum : sum;
    }
    return add_bias(c, unfold_depth_from_batch(y, x.size(0), results), w.size(0));
  });
}

// ---- transposed: input, weight, bias, stride, padding, output_padding, groups, dilation ----

struct Transposed {
  Shape stride, padding, extra, dilation;
  int64_t groups;
};
Transposed read_transposed_options(const Call& c, size_t dims) {
  Transposed t{read_dims_option(c, 3, dims, 1), read_dims_option(c, 4, dims, 0), read_dims_option(c, 5, dims, 0),
               read_dims_option(c, 7, dims, 1), c.integer(6)};
  for (size_t i = 0; i < dims; i++)
    c.require(hint(t.extra[i]) < std::max(hint(t.stride[i]), hint(t.dilation[i])),
              "output_padding must be smaller than stride or dilation, got ", name(t.extra));
  c.require(t.groups >= 1 && c.type(1).shape[0] == c.type(0).shape[c.type(0).rank() - dims - 1],
            "weight must be [channels, out / groups, kernel...]; ", c.types());
  return t;
}
Dim transposed_result_size(const Transposed& t, Dim n, Dim kernel, size_t i) {
  return (n - 1) * t.stride[i] - 2 * t.padding[i] + t.dilation[i] * (kernel - 1) + t.extra[i] + 1;
}
// The gradient of a convolution's input, of two dims from `first` on.
Var conv_transpose_planes(const Call& c, const Transposed& t, Var x, Var w, size_t first) {
  const Shape pair_stride{t.stride[first], t.stride[first + 1]}, padding{t.padding[first], t.padding[first + 1]},
      dilation{t.dilation[first], t.dilation[first + 1]};
  Shape size{x.size(0), w.size(1) * t.groups, transposed_result_size(t, x.size(2), w.size(2), first),
             transposed_result_size(t, x.size(3), w.size(3), first + 1)};
  for (size_t i = 0; i < 2; i++)
    c.require(hint(size[2 + i]) > 0, "the result would have size ", name(size[2 + i]), "; ", c.types());
  const auto over = [&](size_t i) { return hint(t.extra[first + i]) >= hint(t.stride[first + i]); };
  if (!over(0) && !over(1))
    return c.builder.call(Prim::conv2d_input_grad, {x, w, size, pair_stride, padding, dilation, t.groups});
  // Output padding that reaches over a stride: all that the input is sent to, cut to size; zeros lie behind it.
  for (size_t i = 0; i < 2; i++) size[2 + i] = size[2 + i] + 2 * hint(padding[i]) - hint(t.extra[first + i]);
  Var whole = c.builder.call(Prim::conv2d_input_grad, {x, w, size, pair_stride, Shape(2u, 0), dilation, t.groups});
  Shape amounts;
  for (size_t i : {1, 0}) {
    amounts.push_back(-hint(padding[i]));
    amounts.push_back(hint(t.extra[first + i]) - hint(padding[i]));
  }
  return c.builder.call("pad", {whole, amounts});
}
Results conv_transpose1d(Call& c) {
  return apply_with_batch(c, 1, [&](Var x, Var w) {
    Transposed t = read_transposed_options(c, 1);
    for (auto [list, neutral] : {std::pair{&t.stride, 1}, {&t.padding, 0}, {&t.extra, 0}, {&t.dilation, 1}})
      list->insert(0, neutral);
    return add_bias(c, remove_dim(conv_transpose_planes(c, t, insert_dim(x, 2), insert_dim(w, 2), 0), 2),
                    w.size(1) * t.groups);
  });
}
Results conv_transpose2d(Call& c) {
  return apply_with_batch(c, 2, [&](Var x, Var w) {
    const Transposed t = read_transposed_options(c, 2);
    return add_bias(c, conv_transpose_planes(c, t, x, w, 0), w.size(1) * t.groups);
  });
}
// Each depth of the kernel adds to its planes of the result.
Results conv_transpose3d(Call& c) {
  return apply_with_batch(c, 3, [&](Var x, Var w) {
    const Transposed t = read_transposed_options(c, 3);
    const int64_t kernel = hint(w.size(2)), depth = hint(x.size(2)), step = hint(t.stride[0]),
                  spread = (depth - 1) * step + 1;
    const int64_t whole = spread + hint(t.dilation[0]) * (kernel - 1) + hint(t.extra[0]);
    x = computed(x), w = computed(w);  // nor here
    Var flat = fold_depth_into_batch(x), y;
    for (int64_t k = 0; k < kernel; k++) {
      Var part =
          unfold_depth_from_batch(conv_transpose_planes(c, t, flat, slice_weight_plane(w, k), 1), x.size(0), depth);
      Shape shape = part.shape(), starts(5u, 0), ends, steps(5u, 1);
      shape[2] = whole, ends = shape;
      starts[2] = checked_mul(k, hint(t.dilation[0])),
      ends[2] = checked_add(checked_mul(k, hint(t.dilation[0])), spread), steps[2] = step;
      Var zeros = expand_to(full(c.builder, {}, 0, part.dtype(), part.type().device), shape);
      Var placed = c.builder.call(Prim::slice_scatter, {zeros, part, starts, ends, steps});
      y = y ? y + placed : placed;
    }
    c.require(checked_sub(whole, checked_mul(2, hint(t.padding[0]))) > 0, "the result would have no planes; ",
              c.types());
    return add_bias(c, slice_depth(y, t.padding[0], whole - hint(t.padding[0]), 1), w.size(1) * t.groups);
  });
}

// ---- samples ----

using Ints = std::vector<int64_t>;

void sample_lines(Samples& s) {
  s.add({TensorSpec{{2, 3, 7}}, TensorSpec{{4, 3, 3}}, TensorSpec{{4}}});
  s.add({TensorSpec{{4, 7}}, TensorSpec{{6, 2, 2}}, SampleArg(), 2, 1, 2, 2});
  s.add({TensorSpec{{2, 3, 7}, DType::bf16}, TensorSpec{{4, 3, 3}, DType::bf16}, TensorSpec{{4}, DType::bf16}});
  s.add({TensorSpec{{2, 3, 7}}, TensorSpec{{4, 3, 4}}, TensorSpec{{4}}, 1, "same"});
  s.add({TensorSpec{{2, 3, 7}}, TensorSpec{{4, 3, 3}}, SampleArg(), 2, "valid"});
  s.refuse({TensorSpec{{2, 3, 7}}, TensorSpec{{4, 3, 3}}, SampleArg(), 3, "same"}, "needs stride 1");
  s.refuse({TensorSpec{{2, 3, 7}}, TensorSpec{{4, 2, 3}}}, "channels");
  s.refuse({TensorSpec{{2, 3, 7}}, TensorSpec{{4, 3, 3}}, TensorSpec{{3}}}, "bias must have shape");
}
void sample_volumes(Samples& s) {
  s.add({TensorSpec{{1, 2, 4, 4, 3}}, TensorSpec{{3, 2, 2, 3, 2}}, TensorSpec{{3}}});
  s.add({TensorSpec{{2, 5, 4, 4}}, TensorSpec{{2, 1, 2, 2, 2}}, SampleArg(), Ints{2, 1, 2}, Ints{1, 0, 1},
         Ints{2, 1, 1}, 2});
  s.add({TensorSpec{{1, 2, 4, 3, 4}}, TensorSpec{{2, 2, 2, 3, 2}}, SampleArg(), 1, "same", Ints{1, 1, 3}});
  s.refuse({TensorSpec{{1, 2, 1, 4, 3}}, TensorSpec{{3, 2, 2, 3, 2}}}, "reaches over 2 planes");
}
void sample_transposed_lines(Samples& s) {
  s.add({TensorSpec{{1, 1, 2}}, TensorSpec{{1, 1, 2}}});
  s.add({TensorSpec{{2, 3, 5}}, TensorSpec{{3, 4, 3}}, TensorSpec{{4}}});
  s.add({TensorSpec{{4, 5}}, TensorSpec{{4, 2, 3}}, SampleArg(), 2, 1, 1, 2, 2});
  s.add({TensorSpec{{1, 2, 4}}, TensorSpec{{2, 1, 5}}, TensorSpec{{1}}, 2, 2, 3, 1, 4});
  s.refuse({TensorSpec{{2, 3, 5}}, TensorSpec{{3, 4, 3}}, SampleArg(), 1, 0, 1}, "output_padding");
}
void transposed_planes_samples(Samples& s) {
  s.add({TensorSpec{{1, 3, 4, 3}}, TensorSpec{{3, 2, 3, 2}}, TensorSpec{{2}}});
  s.add({TensorSpec{{2, 4, 3, 4}}, TensorSpec{{4, 1, 2, 3}}, SampleArg(), Ints{2, 3}, Ints{0, 1}, Ints{1, 2}, 2});
  s.refuse({TensorSpec{{1, 3, 4, 3}}, TensorSpec{{2, 2, 3, 2}}}, "weight must be");
}
void sample_transposed_volumes(Samples& s) {
  s.add({TensorSpec{{1, 2, 3, 2, 3}}, TensorSpec{{2, 3, 2, 2, 2}}, TensorSpec{{3}}});
  s.add({TensorSpec{{2, 2, 3, 3}}, TensorSpec{{2, 1, 3, 2, 2}}, SampleArg(), Ints{2, 1, 2}, Ints{1, 0, 1},
         Ints{1, 0, 0}, 2});
}

constexpr OpRow kRows[] = {
    composite(
        "conv1d(tensor input, tensor weight, tensor? bias=None, int[] stride=[1], int[]|str padding=[0], int[] "
        "dilation=[1], int groups=1) -> tensor",
        CastPolicy::lower_precision_fp,
        "One-dimensional cross-correlation of [n, c, l] or [c, l] with weight [out, c / groups, k]; padding 'same' "
        "keeps the size, 'valid' is none.",
        conv1d, sample_lines),
    composite(
        "conv3d(tensor input, tensor weight, tensor? bias=None, int[] stride=[1], int[]|str padding=[0], int[] "
        "dilation=[1], int groups=1) -> tensor",
        CastPolicy::lower_precision_fp,
        "Three-dimensional cross-correlation of [n, c, d, h, w] or [c, d, h, w] with weight [out, c / groups, kd, kh, "
        "kw]; padding 'same' keeps the sizes.",
        conv3d, sample_volumes),
    composite(
        "conv_transpose1d(tensor input, tensor weight, tensor? bias=None, int[] stride=[1], int[] padding=[0], int[] "
        "output_padding=[0], int groups=1, int[] dilation=[1]) -> tensor",
        CastPolicy::lower_precision_fp,
        "The transpose of conv1d: what its gradient does to an input, with weight [c, out / groups, k].",
        conv_transpose1d, sample_transposed_lines),
    composite(
        "conv_transpose2d(tensor input, tensor weight, tensor? bias=None, int[] stride=[1], int[] padding=[0], int[] "
        "output_padding=[0], int groups=1, int[] dilation=[1]) -> tensor",
        CastPolicy::lower_precision_fp, "The transpose of conv2d, with weight [c, out / groups, kh, kw].",
        conv_transpose2d, transposed_planes_samples),
    composite(
        "conv_transpose3d(tensor input, tensor weight, tensor? bias=None, int[] stride=[1], int[] padding=[0], int[] "
        "output_padding=[0], int groups=1, int[] dilation=[1]) -> tensor",
        CastPolicy::lower_precision_fp, "The transpose of conv3d, with weight [c, out / groups, kd, kh, kw].",
        conv_transpose3d, sample_transposed_volumes),
};

}  // namespace

extern const OpRows convolutions_ops = kRows;

}  // namespace thunder
