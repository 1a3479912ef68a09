// Random numbers as a function of the random state i64[2] {seed, draws} and the draw's ordinal among those that
// the state does not count yet.
#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/normals.h"

namespace thunder {
namespace {

const TensorType& checked_state_type(const Call& c) {
  const TensorType& state = c.type(0);
  c.require(state.dtype == DType::i64 && state.rank() == 1 && state.shape[0] == Dim(2),
            "state must be i64[2] {seed, draws}; ", c.types());
  return state;
}

TensorType draw_type(const Call& c, size_t shape, DType dtype) {
  const TensorType& state = checked_state_type(c);
  c.require(c.integer(1) >= 0, "ordinal must not be negative, got ", c.integer(1));
  TensorType t;
  t.device = state.device;
  t.dtype = dtype;
  t.shape = Shape(c.dims(shape));
  for (Dim d : t.shape) c.require(!d.constant() || d.value() >= 0, "a size must not be negative, got ", name(t.shape));
  return t;
}
void real_draw_meta(const Call& c, Types& out) {
  c.require(is_real(c.dtype(3)), "dtype must be real, got ", name(c.dtype(3)));
  out.push(draw_type(c, 2, c.dtype(3)));
}
void randint_meta(const Call& c, Types& out) {
  c.require(c.integer(2) < c.integer(3), "low must be less than high, got ", c.integer(2), " and ", c.integer(3));
  out.push(draw_type(c, 4, DType::i64));
}

Philox read_generator(const KernelArgs& k) {
  const auto* state = k.in[0].as<int64_t>();
  return {static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[k.in[0].strides[0]]),
          static_cast<uint64_t>(k.args[1].i)};
}

Status* uniform_kernel(const KernelArgs& k) {
  Philox random = read_generator(k);
  switch (k.out[0].dtype) {
    case DType::f64: each0<double>(k, [random](int64_t i) mutable { return uniform53(random.bits64(i)); }); break;
    case DType::bf16: each0<bf16>(k, [random](int64_t i) mutable { return uniform8(random.bits32(i)); }); break;
    case DType::f16: each0<f16>(k, [random](int64_t i) mutable { return uniform11(random.bits32(i)); }); break;
    default: each0<float>(k, [random](int64_t i) mutable { return uniform24(random.bits32(i)); });
  }
  return nullptr;
}
Status* normal_kernel(const KernelArgs& k) {
  Philox random = read_generator(k);
  const auto single = [random](int64_t i) mutable { return static_cast<float>(normal32(random.bits32(i))); };
  switch (k.out[0].dtype) {
    case DType::f64: each0<double>(k, [random](int64_t i) mutable { return normal52(random.bits64(i)); }); break;
    case DType::bf16: each0<bf16>(k, single); break;
    case DType::f16: each0<f16>(k, single); break;
    default: {
      Rows<1> rows(k.out[0], {&k.out[0]});
      each_run(k, rows, [&](const auto& at, int64_t n, int64_t first) {
        fill_normals(random, first, n, rows.step[0], k.out[0].as<float>() + at[0]);
      });
    }
  }
  return nullptr;
}
Status* randint_kernel(const KernelArgs& k) {
  Philox random = read_generator(k);
  const auto low = static_cast<uint64_t>(k.args[2].i), n = static_cast<uint64_t>(k.args[3].i) - low;
  each0<int64_t>(k, [=](int64_t i) mutable { return static_cast<int64_t>(low + below(random.bits64(i), n)); });
  return nullptr;
}

Status* advance(const KernelArgs& k) {
  const auto* in = k.in[0].as<int64_t>();
  auto* out = k.out[0].as<int64_t>();
  out[0] = in[0];
  const auto before = static_cast<uint64_t>(in[k.in[0].strides[0]]);
  out[k.out[0].strides[0]] = static_cast<int64_t>(before + static_cast<uint64_t>(k.args[1].i));  // wraps around
  return nullptr;
}

constexpr std::string_view kNoGradient = "the state is made of integers";

// Numbers for each example, in the order in which a loop over the batch would lie.
Results batch_real_draw(Batch& b) {
  return b.invoke_same_op({b.args[0], b.args[1], b.with_front(b.size(), b.dims(2)), b.args[3]});
}
Results batch_randint(Batch& b) {
  return b.invoke_same_op({b.args[0], b.args[1], b.args[2], b.args[3], b.with_front(b.size(), b.dims(4))});
}

constexpr OpRow kRows[] = {
    primitive("prims.advance_random(tensor state, int draws=1) -> tensor",
              "The random state {seed, draws} after so many more draws.",
              [](const Call& c, Types& out) { out.push(checked_state_type(c)); }, advance, nullptr, 0,
              {.nondiff = kNoGradient}),
    primitive("prims.philox_uniform(tensor state, int ordinal, int[] shape, dtype dtype) -> tensor",
              "Uniform in [0, 1): 24 bits of Philox4x32-10 for f32, 53 for f64, 11 for f16, 8 for bf16.",
              real_draw_meta, uniform_kernel, nullptr, kRandom, {.nondiff = kNoGradient, .batch = batch_real_draw}),
    primitive("prims.philox_normal(tensor state, int ordinal, int[] shape, dtype dtype) -> tensor",
              "Standard normal: the quantile of 32 bits of Philox4x32-10, of 52 for f64.", real_draw_meta,
              normal_kernel, nullptr, kRandom, {.nondiff = kNoGradient, .batch = batch_real_draw}),
    primitive("prims.philox_randint(tensor state, int ordinal, int low, int high, int[] shape) -> tensor",
              "Integers from low up to but not including high, from 64 bits of Philox4x32-10.", randint_meta,
              randint_kernel, nullptr, kRandom, {.nondiff = kNoGradient, .batch = batch_randint}),
};

}  // namespace

extern const OpRows random_prims_ops = kRows;

}  // namespace thunder
