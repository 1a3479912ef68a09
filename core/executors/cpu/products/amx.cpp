// enable.cmake gives this file the flags.
#include "executors/cpu/products/amx.h"

#if defined(__AMX_BF16__)
#include "executors/cpu/products/amx_pack.h"

namespace thunder {
namespace {

// The compiler does not know that these instructions read and write memory.
void compiler_memory_barrier() { asm volatile("" ::: "memory"); }

struct Configuration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Registers 0 to 3 hold the sums of 32 rows and 32 columns, 4 and 5 a part of a, 6 and 7 a part of b.
void load_sums(const float* c, int64_t row) {
  compiler_memory_barrier();
  _tile_loadd(0, c, row * sizeof(float));
  _tile_loadd(1, c + kSide, row * sizeof(float));
  _tile_loadd(2, c + kSide * row, row * sizeof(float));
  _tile_loadd(3, c + kSide * row + kSide, row * sizeof(float));
}
void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}
void store_sums(float* c, int64_t row) {
  _tile_stored(0, c, row * sizeof(float));
  _tile_stored(1, c + kSide, row * sizeof(float));
  _tile_stored(2, c + kSide * row, row * sizeof(float));
  _tile_stored(3, c + kSide * row + kSide, row * sizeof(float));
  compiler_memory_barrier();
}
void load_a(const Bf16* a) {
  _tile_loadd(4, a, kStep * sizeof(Bf16));
  _tile_loadd(5, a + kRegister, kStep * sizeof(Bf16));
}
void load_b(const Bf16* b) {
  _tile_loadd(6, b, kStep * sizeof(Bf16));
  _tile_loadd(7, b + kRegister, kStep * sizeof(Bf16));
}
void add_products() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}
// The products of the smallest parts first.
template <int kParts>
void add_steps(const Bf16* a, const Bf16* b, int64_t steps) {
  constexpr int64_t kSecond = 2 * kRegister;
  for (int64_t step = 0; step < steps; step++, a += kParts * kSecond, b += kParts * kSecond) {
    load_a(a);
    if constexpr (kParts > 1) load_b(b + kSecond), add_products();
    load_b(b), add_products();
    if constexpr (kParts > 1) load_a(a + kSecond), add_products();
  }
}

// A corner of c smaller than a full step is computed in a buffer of that size.
template <int kParts>
void multiply_corner(const Bf16* a, const Bf16* b, int64_t steps, int64_t rows, int64_t columns, float* c,
                     int64_t c_row, bool add) {
  alignas(64) float whole[kStep * kStep] = {};
  for (int64_t i = 0; i < rows && add; i++)
    for (int64_t j = 0; j < columns; j++) whole[i * kStep + j] = c[i * c_row + j];
  load_sums(whole, kStep);
  add_steps<kParts>(a, b, steps);
  store_sums(whole, kStep);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) c[i * c_row + j] = whole[i * kStep + j];
}

template <class T, int kParts>
void multiply(const AmxBlock<T>& t, const Bf16* a, const Bf16* b) {
  const int64_t steps = (t.k + kStep - 1) / kStep, panel = steps * kParts * 2 * kRegister;
  for (int64_t j = 0; j < t.n; j += kStep, b += panel) {
    const Bf16* rows = a;
    for (int64_t i = 0; i < t.m; i += kStep, rows += panel) {
      float* c = t.c + i * t.c_row + j;
      if (t.m - i < kStep || t.n - j < kStep) {
        multiply_corner<kParts>(rows, b, steps, t.m - i < kStep ? t.m - i : kStep, t.n - j < kStep ? t.n - j : kStep, c,
                                t.c_row, t.add);
        continue;
      }
      if (t.add) load_sums(c, t.c_row);
      else clear_sums();
      add_steps<kParts>(rows, b, steps);
      store_sums(c, t.c_row);
    }
  }
}

}  // namespace

template <class T, int kParts>
bool AmxKernel<T, kParts>::add_block(const AmxBlock<T>& t, void* scratch) {
  const int64_t steps = (t.k + kStep - 1) / kStep;
  Bf16 *a = static_cast<Bf16*>(scratch), *b = a + (t.m + kStep - 1) / kStep * steps * kParts * 2 * kRegister;
  if (!Packer<T, kParts, false>::pack({t.a.data, t.a.row, t.a.column, t.m, t.k}, a)) return false;
  if (!Packer<T, kParts, true>::pack({t.b.data, t.b.column, t.b.row, t.n, t.k}, b)) return false;
  const Configuration configuration;
  asm volatile("ldtilecfg %0" ::"m"(configuration));
  compiler_memory_barrier();
  multiply<T, kParts>(t, a, b);
  _tile_release();
  return true;
}

}  // namespace thunder

#else

namespace thunder {

template <class T, int kParts>
bool AmxKernel<T, kParts>::add_block(const AmxBlock<T>&, void*) { return false; }

}  // namespace thunder

#endif

template struct thunder::AmxKernel<thunder::Bf16, 1>;
template struct thunder::AmxKernel<float, 1>;
template struct thunder::AmxKernel<float, 2>;
