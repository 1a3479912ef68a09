// Convolutions and transposed convolutions of one, two and three dims.
#include <cmath>

#include "base/text.h"
#include "modules/kind.h"

namespace thunder {
namespace {

using Sizes64 = std::vector<int64_t>;

// One size for all dims, or one for each.
Sizes64 for_each_dim(const Module& m, std::string_view option, size_t dims) {
  const Sizes64& given = m.option(option).ints;
  require(given.size() == 1 || given.size() == dims, m.kind().name(), ": ", option, " must be one integer or ", dims,
          ", got ", given.size());
  return given.size() == 1 ? Sizes64(dims, given[0]) : given;
}

// Options that are one size for all dims become one for each, as PyTorch shows them.
void spread_sizes(Module& m, size_t dims) {
  std::vector<Leaf> options = m.options();
  for (std::string_view option : {"kernel_size", "stride", "padding", "output_padding", "dilation"}) {
    const int at = m.kind().schema().find(option);
    if (at >= 0 && m.option(option).ints.size() == 1)
      options[static_cast<size_t>(at)].ints.assign(dims, m.option(option).ints[0]);
  }
  m.set_options(std::move(options));
}

void convolution_init(ModuleInit& m, size_t dims, bool transposed) {
  spread_sizes(m.module, dims);
  const int64_t in = m.module.integer("in_channels"), out = m.module.integer("out_channels"),
                groups = m.module.integer("groups");
  const Sizes64 kernel = for_each_dim(m.module, "kernel_size", dims);
  bool positive = in > 0 && out > 0;
  for (int64_t size : kernel) positive = positive && size > 0;
  m.require(positive, "channels and kernel_size must be positive, got ", in, ", ", out, " and [",
            join(kernel, ", ", [](int64_t size) { return size; }), "]");
  m.require(groups > 0 && in % groups == 0 && out % groups == 0,
            "in_channels and out_channels must be multiples of groups, got ", in, ", ", out, " and ", groups);
  const std::string& mode = m.module.option("padding_mode").text;
  m.require(mode == "zeros" || (!transposed && (mode == "reflect" || mode == "replicate" || mode == "circular")),
            "padding_mode must be ", transposed ? "'zeros'" : "'zeros', 'reflect', 'replicate' or 'circular'",
            ", got '", mode, "'");
  if (const Leaf& padding = m.module.option("padding"); padding.kind == ArgKind::string) {
    m.require(padding.text == "same" || padding.text == "valid", "padding must be numbers, 'same' or 'valid', got '",
              padding.text, "'");
    const Sizes64 stride = for_each_dim(m.module, "stride", dims);
    m.require(padding.text == "valid" || stride == Sizes64(dims, 1),
              "padding='same' keeps the sizes, which needs stride 1");
  }
  Sizes64 shape = transposed ? Sizes64{in, out / groups} : Sizes64{out, in / groups};
  double fan_in = static_cast<double>(shape[1]);
  for (int64_t size : kernel) shape.push_back(size), fan_in *= static_cast<double>(size);
  m.uniform("weight", shape, 1 / std::sqrt(fan_in));
  if (m.module.flag("bias")) m.uniform("bias", {out}, 1 / std::sqrt(fan_in));
}

// The input with the padding that is not zeros around it. Of what "same" adds, the odd one is behind.
Tensor* pad_input(const ModuleCall& c, size_t dims) {
  const Module& m = c.module;
  const bool by_name = m.option("padding").kind == ArgKind::string, same = m.option("padding").text == "same";
  const Sizes64 kernel = for_each_dim(m, "kernel_size", dims), dilation = for_each_dim(m, "dilation", dims),
                given = by_name ? Sizes64(dims, 0) : for_each_dim(m, "padding", dims);
  Sizes64 amounts;  // of the last dim first
  for (size_t i = 0; i < dims; i++) {
    const int64_t whole = same ? dilation[i] * (kernel[i] - 1) : 2 * given[i];
    amounts.insert(amounts.begin(), {whole / 2, whole - whole / 2});
  }
  const Any args[] = {Any::tensor(c.input()), Any::dims(amounts), Any::string(c.module.option("padding_mode").text)};
  return c.op("pad", args, nullptr);
}

template <size_t dims>
void convolution(ModuleCall& c) {
  constexpr std::string_view kOps[] = {"conv1d", "conv2d", "conv3d"};
  const Module& m = c.module;
  const bool zeros = m.option("padding_mode").text == "zeros";
  const Sizes64 none(dims, 0);
  c.give(c.op(kOps[dims - 1],
              {zeros ? c.input() : pad_input(c, dims), c.tensor("weight"), c.tensor("bias"), m.option("stride"),
               zeros ? OpArg(m.option("padding")) : OpArg(none), m.option("dilation"), m.integer("groups")}));
}

template <size_t dims, bool transposed>
void init(ModuleInit& m) {
  convolution_init(m, dims, transposed);
}
template <size_t dims>
consteval ModuleRow row(SchemaText schema, std::string_view doc) {
  return layer(schema, doc, convolution<dims>, init<dims, false>);
}
template <size_t dims>
consteval ModuleRow transposed_row(SchemaText schema, std::string_view doc, std::string_view op) {
  return layer_of_op(schema, doc, op, init<dims, true>);
}

constexpr ModuleRow kRows[] = {
    row<1>(
        "Conv1d(int in_channels, int out_channels, int[] kernel_size, int[] stride=[1], int[]|str padding=[0], int[] "
        "dilation=[1], int groups=1, bool bias=True, str padding_mode='zeros') -> tensor",
        "Cross-correlation of [N, in_channels, L] with weight, [out_channels, in_channels / groups, kL]."),
    row<2>(
        "Conv2d(int in_channels, int out_channels, int[] kernel_size, int[] stride=[1, 1], int[]|str padding=[0, 0], "
        "int[] dilation=[1, 1], int groups=1, bool bias=True, str padding_mode='zeros') -> tensor",
        "Cross-correlation of [N, in_channels, H, W] with weight, [out_channels, in_channels / groups, kH, kW]."),
    row<3>(
        "Conv3d(int in_channels, int out_channels, int[] kernel_size, int[] stride=[1], int[]|str padding=[0], int[] "
        "dilation=[1], int groups=1, bool bias=True, str padding_mode='zeros') -> tensor",
        "Cross-correlation of [N, in_channels, D, H, W] with weight, [out_channels, in_channels / groups, kD, kH, "
        "kW]."),
    transposed_row<1>("ConvTranspose1d(int in_channels, int out_channels, int[] kernel_size, int[] stride=[1], int[] "
                      "padding=[0], int[] output_padding=[0], int groups=1, bool bias=True, int[] dilation=[1], str "
                      "padding_mode='zeros') -> tensor",
                      "Conv1d's gradient as a layer: weight is [in_channels, out_channels / groups, kL].",
                      "conv_transpose1d"),
    transposed_row<2>("ConvTranspose2d(int in_channels, int out_channels, int[] kernel_size, int[] stride=[1], int[] "
                      "padding=[0], int[] output_padding=[0], int groups=1, bool bias=True, int[] dilation=[1], str "
                      "padding_mode='zeros') -> tensor",
                      "Conv2d's gradient as a layer: weight is [in_channels, out_channels / groups, kH, kW].",
                      "conv_transpose2d"),
    transposed_row<3>("ConvTranspose3d(int in_channels, int out_channels, int[] kernel_size, int[] stride=[1], int[] "
                      "padding=[0], int[] output_padding=[0], int groups=1, bool bias=True, int[] dilation=[1], str "
                      "padding_mode='zeros') -> tensor",
                      "Conv3d's gradient as a layer: weight is [in_channels, out_channels / groups, kD, kH, kW].",
                      "conv_transpose3d"),
};

}  // namespace

extern const ModuleRows convolution_kinds = kRows;

}  // namespace thunder
