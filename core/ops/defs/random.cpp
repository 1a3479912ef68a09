// Random tensors, and dropout. Each call draws once from the context's random state.
#include "ops/elementwise.h"

namespace thunder {
namespace {

constexpr uint32_t kTags = kRandom;

// Shared by rand and its relatives: a real dtype, and a device to which the random state is moved.
DType real_dtype_option(const Call& c, size_t dtype) {
  const DType d = c.dtype(dtype, DType::f32);
  c.require(is_real(d), "dtype must be real, got ", name(d));
  return d;
}
Var draw(Call& c, std::string_view prim, std::span<const Dim> size, DType dtype, Device device) {
  for (Dim d : size) c.require(!d.constant() || d.value() >= 0, "a size must not be negative, got ", name(size));
  Draw draw = c.builder.draw();
  return c.builder.call(prim, {to_device(draw.state, device), draw.ordinal, size, dtype});
}

Results rand(Call& c) { return draw(c, "prims.philox_uniform", c.dims(0), real_dtype_option(c, 1), c.device(2)); }
Results randn(Call& c) { return draw(c, "prims.philox_normal", c.dims(0), real_dtype_option(c, 1), c.device(2)); }

Results uniform(Call& c) {
  const DType dtype = real_dtype_option(c, 3);
  const double low = c.real(1), high = c.real(2);
  c.require(low <= high, "low must not exceed high, got ", low, " and ", high);
  Var x = draw(c, "prims.philox_uniform", c.dims(0), compute_dtype(dtype), c.device(4));
  if (low != 0 || high != 1) x = x * (high - low) + low;
  return convert(x, dtype);
}

Results randint(Call& c) {
  const DType dtype = c.dtype(3, DType::i64);
  c.require(c.integer(0) < c.integer(1), "low must be less than high, got ", c.integer(0), " and ", c.integer(1));
  for (Dim d : c.dims(2))
    c.require(!d.constant() || d.value() >= 0, "a size must not be negative, got ", name(c.dims(2)));
  Draw draw = c.builder.draw();
  Var x = c.builder.call(Prim::philox_randint,
                         {to_device(draw.state, c.device(4)), draw.ordinal, c.integer(0), c.integer(1), c.dims(2)});
  return convert(x, dtype);
}

Results dropout(Call& c) {
  const double p = c.real(1);
  c.require(p >= 0 && p <= 1, "p must be a probability, got ", p);
  Var x = c.var(0);
  c.require(is_real(x.dtype()), "input must be real, got ", name(x.type()));
  if (!c.flag(2) || p == 0) return x;
  if (p == 1) return c.builder.call("zeros_like", {x});
  // Always 24 bits: the eight of a bf16 uniform would round p.
  Var keep = c.builder.call("ge", {draw(c, "prims.philox_uniform", x.shape(), DType::f32, x.type().device), p});
  return c.builder.call("where", {keep, x * (1 / (1 - p)), 0.0});
}

using Ints = std::vector<int64_t>;

void sample_sizes(Samples& s) {
  s.add({Ints{2, 3}});
  s.add({Ints{}});
  s.add({Ints{0, 3}});
  s.add({Ints{5}, DType::f64});
  s.add({Ints{5}, DType::bf16});
  s.refuse({Ints{2}, DType::i64}, "real");
  s.refuse({Ints{-2}}, "negative");
}
void sample_uniforms(Samples& s) {
  s.add({Ints{2, 3}});
  s.add({Ints{4}, -2.0, 3.0});
  s.add({Ints{0}, 1.0, 2.0, DType::f64});
  s.add({Ints{}, 1.0, 2.0, DType::bf16});
  s.refuse({Ints{2}, 3.0, 1.0}, "exceed");
}
void sample_integers(Samples& s) {
  s.add({0, 10, Ints{2, 3}});
  s.add({-5, 5, Ints{}});
  s.add({-5, 5, Ints{0, 2}, DType::i32});
  s.refuse({5, 5, Ints{2}}, "less");
}
void sample_dropouts(Samples& s) {
  s.add({TensorSpec{{4, 8}}});
  s.add({TensorSpec{{4, 8}}, 0.25, true});
  s.add({TensorSpec{{}, DType::f64}, 0.5, true});
  s.add({TensorSpec{{0, 3}}, 0.5, true});
  s.add({TensorSpec{{5}, DType::bf16}, 0.5, true});
  s.add({TensorSpec{{3}}, 0.0, true});
  s.add({TensorSpec{{3}}, 1.0, true});
  s.add({TensorSpec{{3}}, 0.5, false});
  s.refuse({TensorSpec{{3}}, 1.5}, "probability");
  s.refuse({TensorSpec{{3}, DType::i64, -9, 9}, 0.5}, "real");
}

constexpr OpRow kRows[] = {
    composite("rand(int[] size, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "Uniform in [0, 1); f32 unless a dtype is given.", rand, sample_sizes, kTags),
    composite("randn(int[] size, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "Standard normal; f32 unless a dtype is given.", randn, sample_sizes, kTags),
    composite("uniform(int[] size, float low=0, float high=1, dtype? dtype=None, device? device=None) -> tensor",
              CastPolicy::none, "Uniform from low to high; f32 unless a dtype is given.", uniform, sample_uniforms,
              kTags),
    composite("randint(int low, int high, int[] size, dtype? dtype=None, device? device=None) -> tensor",
              CastPolicy::none, "Integers from low up to but not including high; i64 unless a dtype is given.", randint,
              sample_integers, kTags),
    composite("dropout(tensor input, float p=0.5, bool training=True) -> tensor", CastPolicy::none,
              "Zero with probability p, else input / (1 - p); the input itself unless training.", dropout,
              sample_dropouts, kTags | kInplace | kMayView | kReturnsSelf),
};

}  // namespace

extern const OpRows random_ops = kRows;

}  // namespace thunder
