// Copies between strided arrays on a device: dense ones by the driver, others by a kernel.
#include <algorithm>
#include <array>
#include <bit>

#include "base/text.h"
#include "base/thrown.h"
#include "device/cuda/device.h"

namespace thunder::nvidia {
namespace {

constexpr int kMostDims = 32;
constexpr unsigned kThreads = 256;

// What the kernel is given, by value: the array's dims, the last of which runs fastest. Mirrored in kText.
struct Layout {
  const std::byte* from;
  std::byte* to;
  int64_t elements;
  int64_t rank;
  int64_t sizes[kMostDims], from_steps[kMostDims], to_steps[kMostDims];
};
static_assert(sizeof(Layout) <= 4096, "kernel parameters are at most so many bytes");

constexpr char kText[] = R"(
struct Layout {
  const char* from;
  char* to;
  long long elements, rank, sizes[32], from_steps[32], to_steps[32];
};
extern "C" __global__ void copy(const Layout layout) {
  for (long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x; at < layout.elements; at += (long long)gridDim.x * blockDim.x) {
    long long rest = at, from = 0, to = 0;
    for (int d = (int)layout.rank - 1; d >= 0; d--) {
      const long long i = rest % layout.sizes[d];
      rest /= layout.sizes[d];
      from += i * layout.from_steps[d], to += i * layout.to_steps[d];
    }
    *(T*)(layout.to + to) = *(const T*)(layout.from + from);
  }
}
)";
constexpr std::array kTypes = {"typedef unsigned char T;", "typedef unsigned short T;", "typedef unsigned int T;", "typedef unsigned long long T;",
                               "struct __align__(8) T { unsigned long long a, b; };"};

// Dims of one element are left out, and neighbours that both arrays step through as one are one.
Layout merged(const StridedBytes& from, const StridedBytes& to, bool& fits) {
  Layout l{from.data, to.data, 1, 0, {}, {}, {}};
  for (int32_t d = 0; d < from.rank; d++) {
    const int64_t size = from.sizes[d];
    l.elements *= size;
    if (size == 1) continue;
    const int64_t last = l.rank - 1;
    if (last >= 0 && l.from_steps[last] == from.steps[d] * size && l.to_steps[last] == to.steps[d] * size) {
      l.sizes[last] *= size, l.from_steps[last] = from.steps[d], l.to_steps[last] = to.steps[d];
      continue;
    }
    if (l.rank == kMostDims) return fits = false, l;
    l.sizes[l.rank] = size, l.from_steps[l.rank] = from.steps[d], l.to_steps[l.rank] = to.steps[d];
    l.rank++;
  }
  fits = true;
  return l;
}

}  // namespace

Function CudaDevice::copy_kernel(size_t item) {
  const auto kind = static_cast<size_t>(std::countr_zero(item));
  Function function = copies_[kind].load(std::memory_order_acquire);
  if (!function) copies_[kind].store(function = this->function(cat(kTypes[kind], kText), "copy"), std::memory_order_release);
  return function;
}

Status* CudaDevice::copy(const StridedBytes& from, const StridedBytes& to, size_t item) {
  bool fits = false;
  Layout layout = merged(from, to, fits);
  if (!layout.elements) return nullptr;
  if (!fits) return make<Status>(Code::unimplemented, cat(name(id()), ": a copy between layouts of more than ", kMostDims, " dims")).detach();
  if (Status* failed = enter()) return failed;
  const auto step = static_cast<int64_t>(item);
  if (layout.rank == 0 || (layout.rank == 1 && layout.from_steps[0] == step && layout.to_steps[0] == step)) {
    const size_t bytes = static_cast<size_t>(layout.elements) * item;
    return status(driver_.copy(reinterpret_cast<Pointer>(to.data), reinterpret_cast<Pointer>(from.data), bytes, stream_), "cuMemcpyDtoDAsync");
  }
  return caught([&] {
    const int64_t blocks = std::min<int64_t>((layout.elements + kThreads - 1) / kThreads, int64_t{16} * properties_.multiprocessors);
    void* parameters[] = {&layout};
    return launch(copy_kernel(item), {static_cast<unsigned>(blocks), kThreads}, parameters, "a copy between strided arrays");
  });
}

}  // namespace thunder::nvidia
