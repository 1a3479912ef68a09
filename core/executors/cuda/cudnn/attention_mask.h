// A mask of attention as cuDNN reads it: a bias of the query's dtype, minus infinity where a key takes no part.
#pragma once

#include "device/cuda/device.h"
#include "executors/cuda/cudnn/attention.h"

namespace thunder::cudnn {

// The kernels that make and use a bias, of one device.
class MaskKernels {
 public:
  static void begin_compiling(nvidia::CudaDevice& device);
  // Throws with the compiler's log.
  MaskKernels(nvidia::CudaDevice& device, const AttentionSizes& sizes);

 private:
  friend class AttentionMask;
  nvidia::Function convert_, clear_;
};

// The sizes with the dropout mask in the place of a bias, whose layout it has.
AttentionSizes with_kept_as_mask(AttentionSizes sizes);

// The mask of a node, for the strides of its memory.
class AttentionMask {
 public:
  // `pack`: a bias is made in any case. Requires: the sizes have a mask.
  AttentionMask(const AttentionSizes& sizes, const Buffer& mask, bool pack);
  // The layout that a dense mask would have.
  static Layout dense_layout(const AttentionSizes& sizes);

  const Layout& layout() const { return layout_; }
  // The bytes of the bias in scratch memory; 0: the mask is a bias itself.
  size_t bytes() const { return bytes_; }
  // Null, or an owned status. `bias`: memory of so many bytes, or the mask's.
  Status* convert(nvidia::CudaDevice& device, const MaskKernels& kernels, const Buffer& mask, void* bias) const;
  // Writes zeros to rows in which every key is masked, and 0 to their statistic: cuDNN does not define these results.
  Status* clear_rows(nvidia::CudaDevice& device, const MaskKernels& kernels, void* bias, void* statistics,
                     void* out) const;

 private:
  const AttentionSizes s_;
  Layout lies_;    // the mask: strides are 0 where it is repeated
  Layout layout_;  // the bias
  size_t bytes_ = 0;
};

}  // namespace thunder::cudnn
