#include "ops/convert_elements.h"

#include <algorithm>

#include "ops/kernels.h"

namespace thunder {
namespace {

// Elements are converted through one of four types that holds all values, so that there is a loop for each type and
// side instead of one for each pair of types.
template <class T>
using Wide = std::conditional_t<
    std::is_integral_v<T>, std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>, Compute<T>>;
constexpr int64_t kRun = 256;

template <class From>
void load(const void* from, int64_t step, int64_t n, Wide<From>* out) {
  const auto* in = static_cast<const From*>(from);
  if (step == 1)
    for (int64_t i = 0; i < n; i++) out[i] = static_cast<Wide<From>>(in[i]);
  else
    for (int64_t i = 0; i < n; i++) out[i] = static_cast<Wide<From>>(in[i * step]);
}
template <class W, class To>
void store(const W* in, int64_t n, void* to, int64_t step) {
  auto* out = static_cast<To*>(to);
  if (step == 1)
    for (int64_t i = 0; i < n; i++) out[i] = converted<To>(in[i]);
  else
    for (int64_t i = 0; i < n; i++) out[i * step] = converted<To>(in[i]);
}

template <class W>
void convert_through(const Buffer& from, const Buffer& to, void (*load_run)(const void*, int64_t, int64_t, W*)) {
  using StoreRun = void (*)(const W*, int64_t, void*, int64_t);
  const auto store_run = by_element(to.dtype, [](auto t) -> StoreRun { return store<W, decltype(t)>; });
  const auto from_size = static_cast<int64_t>(size_of(from.dtype)), to_size = static_cast<int64_t>(size_of(to.dtype));
  W run[kRun];
  Rows<2> rows(to, {&to, &from});
  for (int64_t r = 0; r < rows.rows(); r++, rows.next())
    for (int64_t i = 0; i < rows.row(); i += kRun) {
      const int64_t n = std::min(kRun, rows.row() - i);
      load_run(from.as<std::byte>() + (rows.offset[1] + i * rows.step[1]) * from_size, rows.step[1], n, run);
      store_run(run, n, to.as<std::byte>() + (rows.offset[0] + i * rows.step[0]) * to_size, rows.step[0]);
    }
}

}  // namespace

void convert_elements(const Buffer& from, const Buffer& to) {
  by_element(from.dtype, [&](auto t) { convert_through<Wide<decltype(t)>>(from, to, load<decltype(t)>); });
}

void fill_elements(const Buffer& to, const Arg& number) {
  const Arg plain = number.plain();
  by_element(to.dtype, [&](auto t) {
    using T = decltype(t);
    const T value = plain.kind == ArgKind::real ? converted<T>(plain.f) : converted<T>(plain.i);
    Rows<1> rows(to, {&to});
    for (int64_t r = 0; r < rows.rows(); r++, rows.next())
      for (int64_t i = 0; i < rows.row(); i++) to.as<T>()[rows.offset[0] + i * rows.step[0]] = value;
  });
}

}  // namespace thunder
