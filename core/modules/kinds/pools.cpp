// Pools of one, two and three dims: each is an op of the options' names.
#include "modules/kind.h"

namespace thunder {
namespace {

consteval ModuleRow pool(SchemaText schema, std::string_view op, std::string_view doc) {
  return layer_of_op(schema, doc, op);
}
consteval ModuleRow with_indices(SchemaText schema, std::string_view op, std::string_view doc) {
  return layer_of_op(schema, doc, op, nullptr, "forward(tensor input) -> (tensor, tensor?)");
}
consteval ModuleRow unpool(SchemaText schema, std::string_view op) {
  return layer_of_op(schema,
                     "Zeros with each element where a max pool of these windows that returns indices had found it.", op,
                     nullptr, "forward(tensor input, tensor indices, int[]? output_size=None) -> tensor");
}
constexpr std::string_view kGreatest =
    "The greatest value of each window, and with return_indices where it was; stride None is kernel_size.";
constexpr std::string_view kFractional =
    "The greatest element of each of output_size windows, or so many of a size as output_ratio says, that lie at "
    "random; "
    "with return_indices also where it was.";
constexpr std::string_view kMean = "The mean of each window; stride None is kernel_size.";
constexpr std::string_view kNorm = "The norm_type-th root of the sum of powers of each window.";
constexpr std::string_view kMeans = "The means of output_size nearly equal shares of each dim; -1 keeps a size.";
constexpr std::string_view kMaxima =
    "The maxima of output_size nearly equal shares of each dim, and with return_indices where they were; -1 keeps a "
    "size.";

constexpr ModuleRow kRows[] = {
    with_indices("MaxPool1d(int[] kernel_size, int[]? stride=None, int[] padding=[0], int[] dilation=[1], bool "
                 "return_indices=False, bool ceil_mode=False) -> (tensor, tensor?)",
                 "max_pool1d", kGreatest),
    with_indices("MaxPool2d(int[] kernel_size, int[]? stride=None, int[] padding=[0, 0], int[] dilation=[1, 1], bool "
                 "return_indices=False, bool ceil_mode=False) -> (tensor, tensor?)",
                 "max_pool2d", kGreatest),
    with_indices("MaxPool3d(int[] kernel_size, int[]? stride=None, int[] padding=[0], int[] dilation=[1], bool "
                 "return_indices=False, bool ceil_mode=False) -> (tensor, tensor?)",
                 "max_pool3d", kGreatest),
    unpool("MaxUnpool1d(int[] kernel_size, int[]? stride=None, int[] padding=[0]) -> tensor", "max_unpool1d"),
    unpool("MaxUnpool2d(int[] kernel_size, int[]? stride=None, int[] padding=[0]) -> tensor", "max_unpool2d"),
    unpool("MaxUnpool3d(int[] kernel_size, int[]? stride=None, int[] padding=[0]) -> tensor", "max_unpool3d"),
    with_indices("FractionalMaxPool2d(int[] kernel_size, int[]? output_size=None, float[]? output_ratio=None, bool "
                 "return_indices=False, tensor? _random_samples=None) -> (tensor, tensor?)",
                 "fractional_max_pool2d", kFractional),
    with_indices("FractionalMaxPool3d(int[] kernel_size, int[]? output_size=None, float[]? output_ratio=None, bool "
                 "return_indices=False, tensor? _random_samples=None) -> (tensor, tensor?)",
                 "fractional_max_pool3d", kFractional),
    pool("AvgPool1d(int[] kernel_size, int[]? stride=None, int[] padding=[0], bool ceil_mode=False, bool "
         "count_include_pad=True) -> tensor",
         "avg_pool1d", kMean),
    pool("AvgPool2d(int[] kernel_size, int[]? stride=None, int[] padding=[0], bool ceil_mode=False, bool "
         "count_include_pad=True, int? divisor_override=None) -> tensor",
         "avg_pool2d", kMean),
    pool("AvgPool3d(int[] kernel_size, int[]? stride=None, int[] padding=[0], bool ceil_mode=False, bool "
         "count_include_pad=True, int? divisor_override=None) -> tensor",
         "avg_pool3d", kMean),
    pool("LPPool1d(float norm_type, int[] kernel_size, int[]? stride=None, bool ceil_mode=False) -> tensor",
         "lp_pool1d", kNorm),
    pool("LPPool2d(float norm_type, int[] kernel_size, int[]? stride=None, bool ceil_mode=False) -> tensor",
         "lp_pool2d", kNorm),
    pool("LPPool3d(float norm_type, int[] kernel_size, int[]? stride=None, bool ceil_mode=False) -> tensor",
         "lp_pool3d", kNorm),
    pool("AdaptiveAvgPool1d(int[] output_size) -> tensor", "adaptive_avg_pool1d", kMeans),
    pool("AdaptiveAvgPool2d(int[] output_size) -> tensor", "adaptive_avg_pool2d", kMeans),
    pool("AdaptiveAvgPool3d(int[] output_size) -> tensor", "adaptive_avg_pool3d", kMeans),
    with_indices("AdaptiveMaxPool1d(int[] output_size, bool return_indices=False) -> (tensor, tensor?)",
                 "adaptive_max_pool1d", kMaxima),
    with_indices("AdaptiveMaxPool2d(int[] output_size, bool return_indices=False) -> (tensor, tensor?)",
                 "adaptive_max_pool2d", kMaxima),
    with_indices("AdaptiveMaxPool3d(int[] output_size, bool return_indices=False) -> (tensor, tensor?)",
                 "adaptive_max_pool3d", kMaxima),
};

}  // namespace

extern const ModuleRows pools_kinds = kRows;

}  // namespace thunder
