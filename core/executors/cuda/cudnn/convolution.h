// Convolutions on a CUDA device and their gradients.
#pragma once

#include "executors/cuda/cudnn/session.h"
#include "program/kernel.h"

namespace thunder::cudnn {

// Requires: prims.conv2d, prims.conv2d_input_grad or prims.conv2d_weight_grad of a real dtype. Null: cuDNN has no
// engine for it.
KernelPtr prepare_convolution(Session& session, const NodeView& view);

}  // namespace thunder::cudnn
