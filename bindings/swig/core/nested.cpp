#include "nested.h"

#include <cmath>
#include <cstring>

namespace thunder_swig {

// The first mistake stays.
void Nested::note_shape_mismatch(const std::string& is, size_t depth) {
  if (!mistake_.empty()) return;
  const int64_t size = depth < shape_.size() ? shape_[depth] : -1;
  const std::string wanted = depth >= shape_.size() ? "a number" : size < 0 ? "a list" : "a list of " + std::to_string(size);
  mistake_ = "tensor: the lists are not those of one shape: " + is + " stands where " + wanted + " is expected";
}

void Nested::open() {
  const size_t depth = counts_.size();
  if (depth) counts_.back()++;
  counts_.push_back(0);
  if (depth < shape_.size()) return;
  if (has_rank_) note_shape_mismatch("a list", depth);
  else if (depth && shape_[depth - 1] == 0) note_shape_mismatch("a list with elements", depth - 1);
  else shape_.push_back(-1);
}

void Nested::close() {
  if (counts_.empty()) return;
  const size_t depth = counts_.size() - 1;
  const int64_t count = counts_.back();
  counts_.pop_back();
  if (depth >= shape_.size()) return;  // too deep, which was said
  if (shape_[depth] < 0) shape_[depth] = count;
  else if (shape_[depth] != count) note_shape_mismatch("a list of " + std::to_string(count), depth);
}

void Nested::add(Number number, char kind) {
  const size_t depth = counts_.size();
  if (depth) counts_.back()++;
  if (depth < shape_.size()) return note_shape_mismatch("a number", depth);
  has_rank_ = true;
  booleans_ = booleans_ && kind == 'b', integers_ = integers_ && kind == 'i';
  if (kind != 'r') number.real = static_cast<double>(number.integer);
  else number.integer = number.real >= -0x1p63 && number.real < 0x1p63 ? static_cast<int64_t>(number.real) : 0;
  numbers_.push_back(number);
}

void Nested::note_non_number(const char* what) {
  if (mistake_.empty()) mistake_ = std::string("tensor: an element must be a number or a boolean, got ") + what;
}

thunder_dtype Nested::dtype() const {
  if (numbers_.empty()) return THUNDER_F32;
  return booleans_ ? THUNDER_BOOL : integers_ ? THUNDER_I64 : THUNDER_F32;
}

namespace {

// Rounded to nearest even.
uint16_t bf16_of(double value) {
  const auto single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  if (single != single) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// IEEE binary16, rounded to nearest even once from single precision, as a conversion from f32 is.
uint16_t f16_of(double value) {
  const auto single = static_cast<float>(value);
  const double magnitude = std::fabs(static_cast<double>(single));
  const uint16_t sign = std::signbit(single) ? 0x8000 : 0;
  if (single != single) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 65520) return static_cast<uint16_t>(sign | 0x7c00);
  // Rounded in steps of the number's own exponent: a carry out of the fraction goes into the exponent, as it should.
  const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<uint16_t>(sign | (steps < 1024 ? steps : ((exponent + 15) << 10) + steps - 1024));
}

template <class T>
void append(std::string& out, T element) {
  char bytes[sizeof element];
  std::memcpy(bytes, &element, sizeof element);
  out.append(bytes, sizeof element);
}

}  // namespace

std::string Nested::packed(thunder_dtype dtype) const {
  std::string out;
  out.reserve(numbers_.size() * static_cast<size_t>((dtype & 0xff) + 7) / 8);
  for (const Number& n : numbers_) switch (dtype) {
      case THUNDER_BOOL: append<uint8_t>(out, n.real != 0); break;
      case THUNDER_U8: append(out, static_cast<uint8_t>(n.integer)); break;
      case THUNDER_I8: append(out, static_cast<int8_t>(n.integer)); break;
      case THUNDER_U16: append(out, static_cast<uint16_t>(n.integer)); break;
      case THUNDER_I16: append(out, static_cast<int16_t>(n.integer)); break;
      case THUNDER_U32: append(out, static_cast<uint32_t>(n.integer)); break;
      case THUNDER_U64: append(out, static_cast<uint64_t>(n.integer)); break;
      case THUNDER_I32: append(out, static_cast<int32_t>(n.integer)); break;
      case THUNDER_I64: append(out, n.integer); break;
      case THUNDER_BF16: append(out, bf16_of(n.real)); break;
      case THUNDER_F16: append(out, f16_of(n.real)); break;
      case THUNDER_F64: append(out, n.real); break;
      default: append(out, static_cast<float>(n.real));
    }
  return out;
}

}  // namespace thunder_swig
