// The target for CUDA devices: nests become kernels of CUDA C++, compiled by NVRTC.
#pragma once

#include <memory>

#include "device/devices.h"
#include "loops/target.h"

namespace thunder::loops {

// The devices must live as long.
std::unique_ptr<const Target> cuda_target(Devices& devices);

}  // namespace thunder::loops
