#include "executors/cpu/widened_kernel.h"

#include <array>
#include <numeric>

#include "executors/cpu/table_executor.h"
#include "executors/cpu/tiling.h"
#include "ir/elements.h"
#include "ir/shape.h"
#include "ops/kernels.h"
#include "tensor/tensor.h"

namespace thunder {
namespace {

constexpr size_t kMaxOperands = 16;

int64_t round_up_to_cache_lines(int64_t floats) { return round_up(floats, kLineFloats); }

Sizes row_major_strides(const Buffer& b) { return dense_strides(std::span(b.shape, static_cast<size_t>(b.rank))); }

// The order in which memory holds the elements without gaps, as strides of a copy; else row-major ones.
Sizes copied_strides(const Buffer& b) {
  const auto rank = static_cast<size_t>(b.rank);
  SmallVector<size_t, 8> order(rank, 0);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return b.strides[x] > b.strides[y]; });
  int64_t step = 1;
  for (size_t i = rank; i-- > 0; step *= b.shape[order[i]])
    if (b.shape[order[i]] != 1 && b.strides[order[i]] != step) return row_major_strides(b);
  return Sizes(b.strides, b.strides + b.rank);
}

// The loops between a tensor of 16-bit reals and its copy of f32.
struct Conversion {
  const ProductKernels& kernels;
  Buffer narrow, floats;

  Status* run(const Launch* launch, bool widens) const {
    Rows<2> all(narrow, {&narrow, &floats});
    return each_run(KernelArgs{{}, {}, {}, nullptr, launch->threads}, all, [&](const auto& at, int64_t n, int64_t) {
      convert(narrow.as<uint16_t>() + at[0], all.step[0], floats.as<float>() + at[1], all.step[1], n, widens);
    });
  }

 private:
  void convert(uint16_t* narrow_data, int64_t narrow_step, float* full, int64_t step, int64_t n, bool widens) const {
    const bool is_f16 = narrow.dtype == DType::f16;
    if (narrow_step == 1 && step == 1) {
      if (widens) (is_f16 ? kernels.widen_f16 : kernels.widen)(narrow_data, n, full);
      else (is_f16 ? kernels.narrow_f16 : kernels.narrow)(full, n, narrow_data);
      return;
    }
    const auto one = [&](auto zero, int64_t i) {
      using T = decltype(zero);
      uint16_t& bits = narrow_data[i * narrow_step];
      if (widens) full[i * step] = std::bit_cast<T>(bits);
      else bits = T(full[i * step]).bits;
    };
    for (int64_t i = 0; i < n; i++)
      if (is_f16) one(f16{}, i);
      else one(bf16{}, i);
  }
};

class WidenedKernel : public Kernel {
 public:
  // `copied`: floats of all copies, each up to whole lines.
  WidenedKernel(KernelPtr kernel, const ProductKernels& kernels, int64_t copied)
      : Kernel(this), kernel_(std::move(kernel)), kernels_(kernels),
        own_(round_up_to_cache_lines(static_cast<int64_t>(kernel_->scratch() + 3) / 4)), copied_(copied) {
    add_flags(kernel_->flags());
  }

  std::unique_ptr<const KernelOfClass> of_class(const LineView& line) const override;
  size_t scratch() const override { return static_cast<size_t>(own_ + copied_) * sizeof(float); }
  Status* run(const Launch* launch) const {
    Copies inputs({launch->inputs, launch->n_inputs}), outputs({launch->outputs, launch->n_outputs});
    float* at = static_cast<float*>(launch->scratch) + own_;
    at = inputs.place_operands(at, true), outputs.place_operands(at, false);
    Launch widened = *launch;
    widened.inputs = inputs.buffers.data(), widened.outputs = outputs.buffers.data();
    if (Status* failed = inputs.convert(launch, kernels_, true)) return failed;
    if (Status* failed = kernel_->call()(&widened)) return failed;
    return outputs.convert(launch, kernels_, false);
  }

 private:
  struct Copies {
    explicit Copies(std::span<const Buffer> all) : given(all) { std::copy(all.begin(), all.end(), buffers.begin()); }

    // Places the widened operands, and returns the end of their memory.
    float* place_operands(float* at, bool in_memory_order) {
      for (size_t i = 0; i < given.size(); i++) {
        Buffer& b = buffers[i];
        if (!b.present() || !is_half(b.dtype)) continue;
        strides[i] = in_memory_order ? copied_strides(b) : row_major_strides(b);
        b.dtype = DType::f32, b.data = at, b.strides = strides[i].data();
        at += round_up_to_cache_lines(b.elements());
      }
      return at;
    }
    Status* convert(const Launch* launch, const ProductKernels& kernels, bool widens) const {
      for (size_t i = 0; i < given.size(); i++)
        if (given[i].present() && is_half(given[i].dtype))
          if (Status* failed = Conversion{kernels, given[i], buffers[i]}.run(launch, widens)) return failed;
      return nullptr;
    }
    std::span<const Buffer> given;
    std::array<Buffer, kMaxOperands> buffers;
    std::array<Sizes, kMaxOperands> strides;
  };

  const KernelPtr kernel_;
  const ProductKernels& kernels_;
  const int64_t own_, copied_;  // floats of scratch: of the kernel itself, and of the copies
};

// The floats that copies of these tensors take.
int64_t count_copied(std::span<const Buffer> all) {
  int64_t floats = 0;
  for (const Buffer& b : all)
    if (b.present() && is_half(b.dtype)) floats += round_up_to_cache_lines(b.elements());
  return floats;
}

class WidenedKernelOfClass : public KernelOfClass {
 public:
  WidenedKernelOfClass(std::unique_ptr<const KernelOfClass> of, const ProductKernels& kernels)
      : of_(std::move(of)), kernels_(kernels) {}
  KernelPtr kernel_for(const SizedLine& line) const override {
    KernelPtr made = of_->kernel_for(line);
    if (!made) return nullptr;
    return std::make_unique<WidenedKernel>(std::move(made), kernels_,
                                           count_copied(line.inputs) + count_copied(line.outputs));
  }

 private:
  const std::unique_ptr<const KernelOfClass> of_;
  const ProductKernels& kernels_;
};

std::unique_ptr<const KernelOfClass> WidenedKernel::of_class(const LineView& line) const {
  auto of = kernel_->of_class(line);
  return of ? std::make_unique<WidenedKernelOfClass>(std::move(of), kernels_) : nullptr;
}

}  // namespace

bool has_16_bit_reals(const NodeView& view) {
  bool found = false;
  for_each_type(view, [&](const TensorType& t) { found |= is_half(t.dtype); });
  return found;
}

bool all_tensors_are_floats(const NodeView& view, void*) {
  const DType dtype = view.store.type(view.node.results[0]).dtype;
  bool all = dtype == DType::f32 || is_half(dtype);
  for_each_type(view, [&](const TensorType& t) { all = all && is_cpu_tensor_of(t, dtype); });
  return all;
}

KernelPtr widened_kernel(KernelPtr kernel, const ProductKernels& kernels, const NodeView& view) {
  if (!has_16_bit_reals(view)) return kernel;
  size_t tensors = 0;
  int64_t floats = 0;
  for_each_type(view, [&](const TensorType& t) {
    tensors++;
    if (!is_half(t.dtype)) return;
    int64_t n = 1;
    for (int64_t size : concrete(t.shape)) n *= size;
    floats += round_up_to_cache_lines(n);
  });
  if (tensors > kMaxOperands) fail(Code::declined, "it has more operands than are widened");
  return std::make_unique<WidenedKernel>(std::move(kernel), kernels, floats);
}

}  // namespace thunder
