// Conv2d, MaxPool2d and Flatten: images to features.
#include <cmath>

#include "base/text.h"
#include "modules/kind.h"

namespace thunder {
namespace {

// One size for both axes, or one for each.
std::vector<int64_t> pair(const ModuleInit& m, std::string_view option) {
  const auto& given = m.module.option(option).ints;
  m.require(given.size() == 1 || given.size() == 2, option, " must be one integer or two, got ", given.size());
  return {given.front(), given.back()};
}

void conv2d_init(ModuleInit& m) {
  const int64_t in = m.module.integer("in_channels"), out = m.module.integer("out_channels"),
                groups = m.module.integer("groups");
  const auto kernel = pair(m, "kernel_size");
  m.require(in > 0 && out > 0 && kernel[0] > 0 && kernel[1] > 0, "channels and kernel_size must be positive, got ", in,
            ", ", out, " and [", kernel[0], ", ", kernel[1], "]");
  m.require(groups > 0 && in % groups == 0 && out % groups == 0,
            "in_channels and out_channels must be multiples of groups, got ", in, ", ", out, " and ", groups);
  const double fan_in =
      static_cast<double>(in / groups) * static_cast<double>(kernel[0]) * static_cast<double>(kernel[1]);
  m.uniform("weight", {out, in / groups, kernel[0], kernel[1]}, 1 / std::sqrt(fan_in));
  if (m.module.flag("bias")) m.uniform("bias", {out}, 1 / std::sqrt(fan_in));
}
void conv2d(ModuleCall& c) {
  const Module& m = c.module;
  c.give(c.op("conv2d", {c.input(), c.tensor("weight"), c.tensor("bias"), m.option("stride"), m.option("padding"),
                         m.option("dilation"), m.integer("groups")}));
}

void max_pool2d(ModuleCall& c) {
  const Module& m = c.module;
  c.give(c.op("max_pool2d", {c.input(), m.option("kernel_size"), m.option("stride"), m.option("padding"),
                             m.option("dilation"), m.flag("ceil_mode")}));
}

void flatten(ModuleCall& c) {
  c.give(c.op("flatten", {c.input(), c.module.integer("start_dim"), c.module.integer("end_dim")}));
}

constexpr ModuleRow kRows[] = {
    {.schema = "Conv2d(int in_channels, int out_channels, int[] kernel_size, int[] stride=[1, 1], int[] padding=[0, "
               "0], int[] dilation=[1, 1], "
               "int groups=1, bool bias=True) -> tensor",
     .doc = "Cross-correlation of [N, in_channels, H, W] with weight, [out_channels, in_channels / groups, kH, kW].",
     .init = conv2d_init,
     .forward = conv2d},
    {.schema = "MaxPool2d(int[] kernel_size, int[]? stride=None, int[] padding=[0, 0], int[] dilation=[1, 1], bool "
               "ceil_mode=False) -> tensor",
     .doc = "The greatest value of each window; stride None is kernel_size.",
     .forward = max_pool2d},
    {.schema = "Flatten(int start_dim=1, int end_dim=-1) -> tensor",
     .doc = "One dim in place of those from start_dim to end_dim.",
     .forward = flatten},
};

}  // namespace

void register_convolution(ModuleKinds& kinds) {
  for (auto& row : kRows) kinds.add(row);
}

}  // namespace thunder
