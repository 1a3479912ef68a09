// Convolutions on a CUDA device and their gradients.
#pragma once

#include "executors/cuda/cudnn/session.h"
#include "program/kernel.h"

namespace thunder::cudnn {

// Requires: prims.conv2d, prims.conv2d_input_grad or prims.conv2d_weight_grad of a real dtype. `tf32`: operands of
// f32 may be rounded to TF32.
KernelPtr prepare_convolution(Session& session, const NodeView& view, bool tf32);

}  // namespace thunder::cudnn
