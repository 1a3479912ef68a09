#include "executors/cpu/executors.h"

#include <array>
#include <limits>

#include "executors/cpu/table_executor.h"
#include "executors/cpu/parallel.h"
#include "executors/cpu/tiling.h"
#include "executors/cpu/widened_kernel.h"
#include "executors/cpu/isa/kernels.h"
#include "ir/prim.h"
#include "ops/pair.h"

namespace thunder {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

class MaxPool : public Kernel {
 public:
  MaxPool(const MaxPoolKernels& maxima, const NodeView& view) : Kernel(this), maxima_(maxima) {
    const Arg* args = view.node.args.data();
    kernel_ = pair_of(args[1]), stride_ = pair_of(args[2]), padding_ = pair_of(args[3]), dilation_ = pair_of(args[4]);
    const Sizes image = concrete(view.store.type(view.node.args[0].v).shape),
                windows = concrete(view.store.type(view.node.results[0]).shape);
    channels_ = image[1];
    for (size_t i = 0; i < 2; i++) image_[i] = image[2 + i], windows_[i] = windows[2 + i];
    const bool packed = stride_[1] <= MaxPoolKernels::kMaxPacked;
    const int64_t lanes = packed ? round_up(windows_[1], MaxPoolKernels::kMaxLanes) : windows_[1];
    pitch_ = round_up(std::max(padding_[1] + image_[1], lanes * stride_[1] + (kernel_[1] - 1) * dilation_[1]),
                  MaxPoolKernels::kMaxLanes);
    rows_floats_ = pitch_ * std::min(kernel_[0], image_[0]);
    const int64_t tasks = image[0] * channels_, work = windows_[0] * windows_[1] * kernel_[0] * kernel_[1];
    const int64_t floats = rows_floats_ + std::min(kernel_[0], image_[0]);
    slots_ =
        Slots(tasks, std::clamp<int64_t>(std::min(tasks * work / kFew, kMaxScratch / floats), 1, kMaxSlots), floats);
  }

  // Indices are 32 bits.
  bool has_32_bit_indices() const { return pitch_ <= INT32_MAX / (image_[0] + 1); }
  size_t scratch() const override { return slots_.bytes(); }

  Status* run(const Launch* launch) const {
    return slots_.run(launch, [&](int64_t plane, float* rows) {
      const Buffer& in = launch->inputs[0];
      const float* from = in.as<float>() + plane / channels_ * in.strides[0] + plane % channels_ * in.strides[1];
      const int64_t before = plane * windows_[0] * windows_[1];
      pool_plane(from, in.strides, rows, launch->outputs[0].as<float>() + before,
                 launch->outputs[1].as<int64_t>() + before);
    });
  }

 private:
  // kFew: pixels that are not worth another thread; kMaxScratch: floats.
  static constexpr int64_t kFew = 1 << 14, kMaxSlots = 64, kMaxScratch = 1 << 22;

  // Pools one plane; its results are dense.
  void pool_plane(const float* from, const int64_t* strides, float* rows, float* values, int64_t* indices) const {
    std::fill_n(rows, rows_floats_, kMinusInfinity);
    auto* first = reinterpret_cast<int32_t*>(rows + rows_floats_);
    WindowRow row{rows, pitch_, 0, first, kernel_[1], dilation_[1], stride_[1], windows_[1]};
    for (int64_t y = 0; y < windows_[0]; y++, values += windows_[1], indices += windows_[1]) {
      row.rows = 0;
      for (int64_t i = 0; i < kernel_[0]; i++) {
        const int64_t at = y * stride_[0] - padding_[0] + i * dilation_[0];
        if (at < 0 || at >= image_[0]) continue;
        copy_row(from + at * strides[2], strides[3], rows +  row.rows * pitch_ + padding_[1]);
        first[row.rows++] = static_cast<int32_t>(at * image_[1] - padding_[1]);
      }
      if (maxima_.row(row, values, indices)) choose_first_pixel(row, indices);
    }
  }
  void copy_row(const float* from, int64_t step, float* to) const {
    if (step == 1) std::copy_n(from, image_[1], to);
    else
      for (int64_t x = 0; x < image_[1]; x++) to[x] = from[x * step];
  }
  // Sets the indices of windows whose pixels are all -inf: the first pixel that is not padding.
  void choose_first_pixel(const WindowRow& row, int64_t* indices) const {
    for (int64_t window = 0; window < windows_[1]; window++) {
      if (indices[window] >= 0) continue;
      int64_t x = window * stride_[1] - padding_[1];
      while (x < 0) x += dilation_[1];
      indices[window] = row.first[0] + padding_[1] + x;
    }
  }

  const MaxPoolKernels& maxima_;
  int64_t channels_;
  std::array<int64_t, 2> image_, windows_, kernel_, stride_, padding_, dilation_;
  int64_t pitch_, rows_floats_;  // floats of a padded row, and of the rows under a row of windows
  Slots slots_;
};

struct Row {
  std::string_view op;
};
constexpr std::array kRows = {Row{name(Prim::max_pool2d)}};

bool pools_floats(const NodeView& view, void*) {
  const TensorType& image = view.store.type(view.node.args[0].v);
  return is_cpu_tensor_of(image, image.dtype) && (image.dtype == DType::f32 || is_half(image.dtype));
}

KernelPtr prepare(const NodeView& view, void* user) {
  const auto& kernels = *static_cast<const IsaKernels*>(user);
  auto made = std::make_unique<MaxPool>(kernels.pooling, view);
  if (!made->has_32_bit_indices())
    fail(Code::declined, "a plane with its padding has more pixels than 32-bit indices can count");
  return widened_kernel(std::move(made), kernels.products, view);
}

}  // namespace

std::optional<ExecutorDesc> pooling_executor(const Machine& machine) {
  const IsaKernels* kernels = kernels_for(machine.instructions);
  if (!kernels) return std::nullopt;
  return table_executor("pooling", kRows, pools_floats, prepare, kernels);
}

}  // namespace thunder
