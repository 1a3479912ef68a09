// Layers that rearrange, pad or resize: Flatten, PixelShuffle, Upsample, the paddings.
#include "base/text.h"
#include "modules/kind.h"

namespace thunder {
namespace {

void unflatten(ModuleCall& c) {
  c.give(c.op("unflatten", {c.input(), c.module.integer("dim"), c.module.option("unflattened_size")}));
}

// One amount for both sides of each of the last `dims` dims, or a pair for each from the last dim on.
void check_padding(ModuleInit& m, size_t dims) {
  const size_t given = m.module.option("padding").ints.size();
  m.require(given == 1 || given == 2 * dims, "padding must be one integer or ", 2 * dims, ", got ", given);
}
void pad_input(ModuleCall& c, size_t dims, std::string_view mode) {
  std::vector<int64_t> amounts = c.module.option("padding").ints;
  if (amounts.size() == 1) amounts.assign(2 * dims, amounts[0]);
  Any by = Any::string(mode), value;
  if (mode == "constant") value = Any::real(c.module.kind().schema().find("value") < 0 ? 0 : c.module.real("value"));
  const Any args[] = {Any::tensor(c.input()), Any::dims(amounts), by, value};
  c.give(c.op("pad", args, nullptr));
}

enum class Fill { constant, reflect, replicate, circular };
template <size_t dims, Fill fill>
consteval ModuleRow padding(SchemaText schema, std::string_view doc) {
  return layer(
      schema, doc,
      [](ModuleCall& c) {
        constexpr std::string_view kModes[] = {"constant", "reflect", "replicate", "circular"};
        pad_input(c, dims, kModes[static_cast<size_t>(fill)]);
      },
      [](ModuleInit& m) { check_padding(m, dims); });
}

constexpr std::string_view kValue = "Pads the last dims with value: one amount, or pairs from the last dim on.";
constexpr std::string_view kZeros = "Pads the last dims with zeros: one amount, or pairs from the last dim on.";
constexpr std::string_view kMirrored = "Pads the last dims with their mirror images, the border itself left out.";
constexpr std::string_view kBorder = "Pads the last dims with the elements at their borders.";
constexpr std::string_view kAround = "Pads the last dims with what is at their other ends.";

template <bool bilinear>
void upsample2d(ModuleCall& c) {
  const Leaf& size = c.module.option("size");
  Any args[] = {Any::tensor(c.input()), OpArg(size), OpArg(c.module.option("scale_factor")),
                Any::string(bilinear ? "bilinear" : "nearest"), bilinear ? Any::boolean(true) : Any()};
  c.give(c.op("interpolate", args, nullptr));
}
void unfold(ModuleCall& c) {
  const Module& m = c.module;
  c.give(c.op("im2col", {c.input(), m.option("kernel_size"), m.option("dilation"), m.option("padding"),
                         m.option("stride")}));
}

constexpr ModuleRow kRows[] = {
    layer_of_op("Flatten(int start_dim=1, int end_dim=-1) -> tensor",
                "One dim in place of those from start_dim to end_dim.", "flatten"),
    layer("Unflatten(int dim, int[] unflattened_size) -> tensor", "Several dims in place of dim.", unflatten),
    layer_of_op("PixelShuffle(int upscale_factor) -> tensor", "[N, C * r * r, H, W] as images of [N, C, H * r, W * r].",
                "pixel_shuffle"),
    layer_of_op("PixelUnshuffle(int downscale_factor) -> tensor", "[N, C, H * r, W * r] as [N, C * r * r, H, W].",
                "pixel_unshuffle"),
    layer_of_op("ChannelShuffle(int groups) -> tensor", "The channels of groups, dealt out in turn.",
                "channel_shuffle"),
    layer_of_op("Fold(int[] output_size, int[] kernel_size, int[] dilation=[1], int[] padding=[0], int[] stride=[1]) "
                "-> tensor",
                "Images as sums of the patches that Unfold takes out of them.", "fold"),
    layer("Unfold(int[] kernel_size, int[] dilation=[1], int[] padding=[0], int[] stride=[1]) -> tensor",
          "The patches of images as columns: [N, C * kernel, patches].", unfold),
    layer_of_op("Upsample(int[]? size=None, float[]? scale_factor=None, str mode='nearest', bool? align_corners=None, "
                "bool? recompute_scale_factor=None) "
                "-> tensor",
                "Signals, images or volumes of another size: th.interpolate as a module.", "interpolate"),
    layer("UpsamplingNearest2d(int[]? size=None, float[]? scale_factor=None) -> tensor",
          "Upsample of images by the nearest pixel.", upsample2d<false>),
    layer("UpsamplingBilinear2d(int[]? size=None, float[]? scale_factor=None) -> tensor",
          "Upsample of images between four pixels, whose corners stay where they are.", upsample2d<true>),
    padding<1, Fill::constant>("ConstantPad1d(int[] padding, float value) -> tensor", kValue),
    padding<2, Fill::constant>("ConstantPad2d(int[] padding, float value) -> tensor", kValue),
    padding<3, Fill::constant>("ConstantPad3d(int[] padding, float value) -> tensor", kValue),
    padding<1, Fill::constant>("ZeroPad1d(int[] padding) -> tensor", kZeros),
    padding<2, Fill::constant>("ZeroPad2d(int[] padding) -> tensor", kZeros),
    padding<3, Fill::constant>("ZeroPad3d(int[] padding) -> tensor", kZeros),
    padding<1, Fill::reflect>("ReflectionPad1d(int[] padding) -> tensor", kMirrored),
    padding<2, Fill::reflect>("ReflectionPad2d(int[] padding) -> tensor", kMirrored),
    padding<3, Fill::reflect>("ReflectionPad3d(int[] padding) -> tensor", kMirrored),
    padding<1, Fill::replicate>("ReplicationPad1d(int[] padding) -> tensor", kBorder),
    padding<2, Fill::replicate>("ReplicationPad2d(int[] padding) -> tensor", kBorder),
    padding<3, Fill::replicate>("ReplicationPad3d(int[] padding) -> tensor", kBorder),
    padding<1, Fill::circular>("CircularPad1d(int[] padding) -> tensor", kAround),
    padding<2, Fill::circular>("CircularPad2d(int[] padding) -> tensor", kAround),
    padding<3, Fill::circular>("CircularPad3d(int[] padding) -> tensor", kAround),
};

}  // namespace

extern const ModuleRows shapes_kinds = kRows;

}  // namespace thunder
