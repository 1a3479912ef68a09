// Copies between strided arrays on a device: dense ones by the driver, others by a kernel.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/text.h"
#include "base/thrown.h"
#include "device/cuda/device.h"

namespace thunder::nvidia {
namespace {

constexpr int kMostDims = 32;
constexpr unsigned kThreads = 256;

// The kernel's parameter, by value: the array's dims, the last of which runs fastest. kText declares the same struct.
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
  const Index elements = (Index)layout.elements, step = (Index)gridDim.x * (Index)blockDim.x;
  for (Index at = (Index)blockIdx.x * (Index)blockDim.x + threadIdx.x; at < elements; at += step) {
    Index rest = at;
    long long from = 0, to = 0;
    for (int d = (int)layout.rank - 1; d > 0; d--) {
      const Index size = (Index)layout.sizes[d], next = rest / size, i = rest - next * size;
      rest = next;
      from += i * layout.from_steps[d], to += i * layout.to_steps[d];
    }
    from += rest * layout.from_steps[0], to += rest * layout.to_steps[0];
    *(T*)(layout.to + to) = *(const T*)(layout.from + from);
  }
}
)";
// The array's last dims are rows and columns: from a column to the next it is one element in `from`, and from a row to
// the next one element in `to`. Each block takes tiles of 64 x 64, so that both are read and written in order.
constexpr char kTransposeText[] = R"(
extern "C" __global__ void transpose(const Layout layout) {
  __shared__ T tile[64][65];
  const Index rows = (Index)layout.sizes[1], columns = (Index)layout.sizes[2];
  const Index across = (columns + 63) / 64, each = (rows + 63) / 64 * across;
  const int x = threadIdx.x % 64, y = threadIdx.x / 64;
  for (Index at = blockIdx.x; at < (Index)layout.sizes[0] * each; at += gridDim.x) {
    const Index matrix = at / each, place = at - matrix * each;
    const Index row = place / across * 64, column = place % across * 64;
    const char* const from = layout.from + (long long)matrix * layout.from_steps[0];
    char* const to = layout.to + (long long)matrix * layout.to_steps[0];
    for (int i = y; i < 64; i += 4)
      if (row + i < rows && column + x < columns)
        tile[i][x] = ((const T*)(from + (long long)(row + i) * layout.from_steps[1]))[column + x];
    __syncthreads();
    for (int i = y; i < 64; i += 4)
      if (column + i < columns && row + x < rows)
        ((T*)(to + (long long)(column + i) * layout.to_steps[2]))[row + x] = tile[x][i];
    __syncthreads();
  }
}
)";
constexpr int64_t kTile = 64;
// Indexed by log2 of an element's bytes; elements of 16 bytes are aligned to 8. The last is for neighbours that are
// merged into 16 aligned bytes.
constexpr std::array kTypes = {"typedef unsigned char T;",
                               "typedef unsigned short T;",
                               "typedef unsigned int T;",
                               "typedef unsigned long long T;",
                               "struct __align__(8) T { unsigned long long a, b; };",
                               "struct __align__(16) T { unsigned long long a, b; };"};
constexpr std::array kIndices = {"typedef unsigned int Index;", "typedef unsigned long long Index;"};
constexpr size_t kWide = 5;
static_assert(kTypes.size() == kWide + 1);

// Merges neighbours along the last dim into larger elements, of up to 16 bytes, as far as both arrays are aligned to
// them. Returns the kind of the elements that are left.
size_t join_neighbours(Layout& l, size_t item) {
  const auto kind = static_cast<size_t>(std::countr_zero(item));
  const int64_t last = l.rank - 1;
  auto step = static_cast<int64_t>(item);
  if (item == 16 || l.from_steps[last] != step || l.to_steps[last] != step) return kind;
  uint64_t bits = reinterpret_cast<uintptr_t>(l.from) | reinterpret_cast<uintptr_t>(l.to);
  for (int64_t d = 0; d < last; d++) bits |= static_cast<uint64_t>(l.from_steps[d] | l.to_steps[d]);
  while (step < 16 && l.sizes[last] % 2 == 0 && bits % static_cast<uint64_t>(2 * step) == 0)
    step *= 2, l.sizes[last] /= 2, l.elements /= 2, l.from_steps[last] = l.to_steps[last] = step;
  return step == 16 ? kWide : static_cast<size_t>(std::countr_zero(static_cast<size_t>(step)));
}

// Leaves out dims of size 1, and merges neighbouring dims that are one dim in both arrays.
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

// The layout as matrices that are to be transposed: [matrices, rows, columns]. None: it has more dims, none that one of
// the arrays runs along, or few elements along these.
std::optional<Layout> matrices(const Layout& l, size_t item) {
  constexpr int64_t kFew = 8;
  const auto step = static_cast<int64_t>(item);
  if (l.rank < 2 || l.rank > 3 || item > sizeof(int64_t)) return std::nullopt;
  const auto run_along = [&](const int64_t* steps) { return std::find(steps, steps + l.rank, step) - steps; };
  const int64_t column = run_along(l.from_steps), row = run_along(l.to_steps);
  if (column == l.rank || row == l.rank || row == column || l.sizes[row] < kFew || l.sizes[column] < kFew)
    return std::nullopt;
  Layout out = l;
  out.rank = 3, out.sizes[0] = 1, out.from_steps[0] = out.to_steps[0] = 0;
  const auto take = [&](int64_t to, int64_t from) {
    out.sizes[to] = l.sizes[from], out.from_steps[to] = l.from_steps[from], out.to_steps[to] = l.to_steps[from];
  };
  if (l.rank == 3) take(0, 3 - row - column);
  take(1, row), take(2, column);
  return out;
}

}  // namespace

Function CudaDevice::copy_kernel(size_t kind, CopyKernel how) {
  std::atomic<Function>& kept = copies_[kind][static_cast<size_t>(how)];
  Function function = kept.load(std::memory_order_acquire);
  if (function) return function;
  const bool transposes = how == CopyKernel::transpose;
  function = this->function(cat(kTypes[kind], kIndices[how == CopyKernel::long_index], kText,
                                transposes ? kTransposeText : ""),
                            transposes ? "transpose" : "copy");
  kept.store(function, std::memory_order_release);
  return function;
}

Status* CudaDevice::copy(const StridedBytes& from, const StridedBytes& to, size_t item) {
  bool fits = false;
  Layout layout = merged(from, to, fits);
  if (!layout.elements) return nullptr;
  if (!fits)
    return make<Status>(Code::unimplemented,
                        cat(name(id()), ": a copy between layouts of more than ", kMostDims, " dims"))
        .detach();
  if (Status* failed = enter()) return failed;
  const auto step = static_cast<int64_t>(item);
  if (layout.rank == 0 || (layout.rank == 1 && layout.from_steps[0] == step && layout.to_steps[0] == step)) {
    const size_t bytes = static_cast<size_t>(layout.elements) * item;
    return status(
        driver_.copy(reinterpret_cast<Pointer>(to.data), reinterpret_cast<Pointer>(from.data), bytes, stream()),
        "cuMemcpyDtoDAsync");
  }
  const int64_t most_blocks = int64_t{16} * properties_.multiprocessors;
  if (const auto turned = layout.elements > INT32_MAX ? std::nullopt : matrices(layout, item)) {
    return catch_as_status([&] {
      const int64_t tiles = turned->sizes[0] * ((turned->sizes[1] + kTile - 1) / kTile) *
                            ((turned->sizes[2] + kTile - 1) / kTile);
      Layout parameter = *turned;
      void* parameters[] = {&parameter};
      const auto kind = static_cast<size_t>(std::countr_zero(item));
      return launch(copy_kernel(kind, CopyKernel::transpose),
                    {static_cast<unsigned>(std::min(tiles, most_blocks)), kThreads}, parameters,
                    "a copy between strided arrays");
    });
  }
  return catch_as_status([&] {
    const size_t kind = join_neighbours(layout, item);
    // The first index after the last element must not wrap around either.
    const bool long_index = layout.elements > INT32_MAX;
    const int64_t blocks = std::min<int64_t>((layout.elements + kThreads - 1) / kThreads, most_blocks);
    void* parameters[] = {&layout};
    const CopyKernel how = long_index ? CopyKernel::long_index : CopyKernel::short_index;
    return launch(copy_kernel(kind, how), {static_cast<unsigned>(blocks), kThreads}, parameters,
                  "a copy between strided arrays");
  });
}

}  // namespace thunder::nvidia
