// Random bits: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011), and
// what uniforms and normals are made of them. Every executor computes exactly this.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace thunder {

// One draw's generator. The key is the seed, low word first. The counter is {block low, block high, draw high, draw
// low}, where the draws before the call and within it are counted on: so an element's bits depend on the seed, how many
// draws came before and the element's number, and a program draws what its ops draw one by one.
class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  Philox(uint64_t seed, uint64_t before, uint64_t ordinal)
      : seed_(seed), draw_(before + ordinal) {}

  Block block(uint64_t number) const {
    Block c = {static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), static_cast<uint32_t>(draw_ >> 32),
               static_cast<uint32_t>(draw_)};
    auto k0 = static_cast<uint32_t>(seed_), k1 = static_cast<uint32_t>(seed_ >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c[0], p1 = uint64_t{0xCD9E8D57u} * c[2];
      c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    }
    return c;
  }

  // The words of `count` blocks, one after the other, by loops that become vectors.
  [[gnu::always_inline]] void blocks(uint64_t number, int64_t count, uint32_t* words) const {
    for (int64_t j = 0; j < count; j++) {
      const uint64_t n = number + static_cast<uint64_t>(j);
      uint32_t c0 = static_cast<uint32_t>(n), c1 = static_cast<uint32_t>(n >> 32);
      uint32_t c2 = static_cast<uint32_t>(draw_ >> 32), c3 = static_cast<uint32_t>(draw_);
      auto k0 = static_cast<uint32_t>(seed_), k1 = static_cast<uint32_t>(seed_ >> 32);
#pragma GCC unroll 10
      for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        const uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
        c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0, c1 = static_cast<uint32_t>(p1);
        c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1, c3 = static_cast<uint32_t>(p0);
      }
      words[4 * j] = c0, words[4 * j + 1] = c1, words[4 * j + 2] = c2, words[4 * j + 3] = c3;
    }
  }

  // Element i's 32 bits: word i % 4 of block i / 4. Keeps the last block, since neighbours share it.
  uint32_t bits32(int64_t i) {
    const auto n = static_cast<uint64_t>(i);
    return at(n / 4)[n % 4];
  }
  // Element i's 64 bits: words 2 (i % 2) and the next, low one first, of block i / 2.
  uint64_t bits64(int64_t i) {
    const auto n = static_cast<uint64_t>(i);
    const Block& b = at(n / 2);
    return b[n % 2 * 2] | uint64_t{b[n % 2 * 2 + 1]} << 32;
  }

 private:
  const Block& at(uint64_t number) {
    if (number != number_) last_ = block(number), number_ = number;
    return last_;
  }
  uint64_t seed_, draw_;
  uint64_t number_ = UINT64_MAX;
  Block last_{};
};

// The quotient of two polynomials of degree 7, coefficients from the constant on.
struct Rational {
  double num[8], den[8];
  constexpr double operator()(double r) const { return horner(num, r) / horner(den, r); }

 private:
  // Written out, so that loops over r become loops over vectors.
  static constexpr double horner(const double (&c)[8], double r) {
    return ((((((c[7] * r + c[6]) * r + c[5]) * r + c[4]) * r + c[3]) * r + c[2]) * r + c[1]) * r + c[0];
  }
};
// M. J. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37 (1988):
// PPND16, of the middle, and of sqrt(-log p) up to 5 and beyond.
namespace ppnd16 {
constexpr Rational kCentral{
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};
constexpr Rational kMiddle{
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
constexpr Rational kFar{
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};
constexpr double kMiddleEnd = 0.425, kFarBegin = 5;
inline double central(double q) { return q * kCentral(0.180625 - q * q); }
inline double tail(double r) { return r <= kFarBegin ? kMiddle(r - 1.6) : kFar(r - 5); }
}  // namespace ppnd16

// The x with P(X < x) = p for a standard normal X, 0 < p < 1, to about 1e-16.
inline double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::fabs(q) <= ppnd16::kMiddleEnd) return ppnd16::central(q);
  const double x = ppnd16::tail(std::sqrt(-std::log(q < 0 ? p : 1 - p)));
  return q < 0 ? -x : x;
}

// [0, 1) with as many bits as the type holds: 24, 53, 8, 11.
inline float uniform24(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
inline double uniform53(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
inline float uniform8(uint32_t bits) { return static_cast<float>(bits >> 24) * 0x1p-8f; }
inline float uniform11(uint32_t bits) { return static_cast<float>(bits >> 21) * 0x1p-11f; }

// The quantile of the middle of one of 2^32 or 2^52 equal cells, so that neither 0 nor 1 is met.
inline double normal32(uint32_t bits) { return normal_quantile((static_cast<double>(bits) + 0.5) * 0x1p-32); }
inline double normal52(uint64_t bits) { return normal_quantile((static_cast<double>(bits >> 12) + 0.5) * 0x1p-52); }

// [0, n) as the high half of bits * n: uniform to within n / 2^64.
inline uint64_t below(uint64_t bits, uint64_t n) {
  const uint64_t low = (bits & 0xffffffff) * (n & 0xffffffff);
  const uint64_t middle = (bits >> 32) * (n & 0xffffffff) + (low >> 32);
  const uint64_t cross = (bits & 0xffffffff) * (n >> 32) + (middle & 0xffffffff);
  return (bits >> 32) * (n >> 32) + (middle >> 32) + (cross >> 32);
}

}  // namespace thunder
