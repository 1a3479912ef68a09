// The prim that turns dims round, on the CPU, where reading backwards costs no more than forwards.
#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/indices.h"

namespace thunder {
namespace {

void meta(const Call& c, Types& out) {
  c.axes(1, c.type(0).rank());  // refuses what is out of range or named twice
  out.push(c.type(0));
}

template <class T>
void copy_turned(const KernelArgs& k, const Buffer& from) {
  Rows<2> rows(k.out[0], {&k.out[0], &from});
  const int64_t so = rows.step[0], si = rows.step[1];
  each_run(k, rows, [&](const auto& at, int64_t n, int64_t) {
    T* out = k.out[0].as<T>() + at[0];
    const T* in = from.as<T>() + at[1];
    if (so == 1 && si == -1)
      for (int64_t i = 0; i < n; i++) out[i] = in[-i];
    else if (so == 1 && si == 1) std::copy_n(in, n, out);
    else
      for (int64_t i = 0; i < n; i++) out[i * so] = in[i * si];
  });
}
Status* kernel(const KernelArgs& k) {
  const Buffer& in = k.in[0];
  if (in.elements() == 0) return nullptr;
  Reshaped from(in, Sizes(in.shape, in.shape + in.rank), Sizes(in.strides, in.strides + in.rank));
  const auto item = static_cast<int64_t>(size_of(in.dtype));
  auto* first = in.as<std::byte>();
  for (const Dim d : k.args[1].dim_list()) {
    const size_t axis = normalize_axis(d.value(), static_cast<size_t>(in.rank));
    first += (in.shape[axis] - 1) * in.strides[axis] * item;
    from.strides[axis] = -in.strides[axis];
  }
  from.buffer.data = first, from.buffer.strides = from.strides.data();
  if (item == 1) copy_turned<uint8_t>(k, from.buffer);
  else if (item == 2) copy_turned<uint16_t>(k, from.buffer);
  else if (item == 4) copy_turned<uint32_t>(k, from.buffer);
  else copy_turned<uint64_t>(k, from.buffer);
  return nullptr;
}

Results batch(Batch& b) { return b.invoke_same_op({b.operand(0), b.shifted(b.dims(1), b.rank(0))}); }

constexpr OpRow kFlipPrim =
    primitive("prims.flip(tensor input, int[] dims) -> tensor",
              "The elements in reverse order along dims, each of which is named once.", meta, kernel,
              [](Grad& g) {
                g.add(0, g.builder.call("flip", {g.cotangent(), g.dims(1)}));
              },
              kLinear | kAnyElement, {.batch = batch});

}  // namespace

extern const OpRows flip_prim_ops = {&kFlipPrim, 1};

}  // namespace thunder
