// What is declared by hand of NVIDIA's driver is what cuda.h declares, where that is installed.
// covers: core/device/cuda/driver.cpp
#include "device/cuda/driver.h"

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>

namespace thunder::nvidia {
namespace {

TEST(CudaDriver, constants_are_those_of_its_header) {
  EXPECT_EQ(kOutOfMemory, static_cast<int>(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_EQ(kNoDevice, static_cast<int>(CUDA_ERROR_NO_DEVICE));
  EXPECT_EQ(kEccUncorrectable, static_cast<int>(CUDA_ERROR_ECC_UNCORRECTABLE));
  EXPECT_EQ(kIllegalAddress, static_cast<int>(CUDA_ERROR_ILLEGAL_ADDRESS));
  EXPECT_EQ(kLaunchTimeout, static_cast<int>(CUDA_ERROR_LAUNCH_TIMEOUT));
  EXPECT_EQ(kAssert, static_cast<int>(CUDA_ERROR_ASSERT));
  EXPECT_EQ(kHardwareStackError, static_cast<int>(CUDA_ERROR_HARDWARE_STACK_ERROR));
  EXPECT_EQ(kIllegalInstruction, static_cast<int>(CUDA_ERROR_ILLEGAL_INSTRUCTION));
  EXPECT_EQ(kMisalignedAddress, static_cast<int>(CUDA_ERROR_MISALIGNED_ADDRESS));
  EXPECT_EQ(kInvalidAddressSpace, static_cast<int>(CUDA_ERROR_INVALID_ADDRESS_SPACE));
  EXPECT_EQ(kInvalidPc, static_cast<int>(CUDA_ERROR_INVALID_PC));
  EXPECT_EQ(kLaunchFailed, static_cast<int>(CUDA_ERROR_LAUNCH_FAILED));
  EXPECT_EQ(kUnknown, static_cast<int>(CUDA_ERROR_UNKNOWN));
  EXPECT_EQ(kMultiprocessors, static_cast<int>(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_EQ(kL2Bytes, static_cast<int>(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  EXPECT_EQ(kMajor, static_cast<int>(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(kMinor, static_cast<int>(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(kSharedBytesOfBlock, static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  EXPECT_EQ(kNotReady, static_cast<int>(CUDA_ERROR_NOT_READY));
  EXPECT_EQ(kBlockingStream, static_cast<unsigned>(CU_STREAM_DEFAULT));
  EXPECT_EQ(kEventWithTime, static_cast<unsigned>(CU_EVENT_DEFAULT));
  EXPECT_EQ(kNonBlockingStream, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(kEventWithoutTime, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(kPortableHostMemory, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_EQ(kMappedHostMemory, static_cast<unsigned>(CU_MEMHOSTALLOC_DEVICEMAP));
  EXPECT_EQ(kMaxDynamicSharedBytes, static_cast<int>(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(kMemoryType, static_cast<int>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
}

}  // namespace
}  // namespace thunder::nvidia
#endif
