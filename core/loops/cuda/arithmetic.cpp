#include "loops/cuda/arithmetic.h"

#include <bit>

#include "base/text.h"
#include "ir/elements.h"

namespace thunder::loops {

static bool real(DType d) { return is_real(d); }

const char* register_type_name(DType d) {
  switch (d) {
    case DType::boolean: return "bool";
    case DType::u8: return "u8";
    case DType::i8: return "signed char";
    case DType::u16: return "unsigned short";
    case DType::i16: return "short";
    case DType::u32: return "u32";
    case DType::i32: return "int";
    case DType::u64: return "u64";
    case DType::i64: return "i64";
    case DType::f64: return "double";
    default: return "float";
  }
}

const char* memory_type_name(DType d) {
  return d == DType::boolean ? "u8" : is_half(d) ? "unsigned short" : register_type_name(d);
}

// Constants are written as bit patterns, since NaN and infinities have no decimal literals.
std::string constant_text(double value, DType d) {
  if (d == DType::f64) return cat("__longlong_as_double((i64)", std::bit_cast<uint64_t>(value), "ULL)");
  if (real(d)) return cat("__int_as_float((int)", std::bit_cast<uint32_t>(static_cast<float>(value)), "u)");
  if (d == DType::u64) return cat(thunder::converted<uint64_t>(value), "ULL");
  return cat("(", register_type_name(d), ")", thunder::converted<int64_t>(value), "LL");
}

std::string from_memory_text(DType d, const std::string& element) {
  if (d == DType::boolean) return cat(element, " != 0");
  return is_half(d) ? cat("from_", name(d), "(", element, ")") : element;
}
std::string to_memory_text(DType d, const std::string& v) { return is_half(d) ? cat("to_", name(d), "(", v, ")") : v; }

std::string rounded_text(const Expr& e, std::string text) {
  return is_half(e.dtype) ? cat("round_", name(e.dtype), "(", text, ")") : text;
}

std::string converted_text(const std::string& x, DType from, DType to) {
  if (to == DType::boolean) return cat(x, " != 0");
  if (real(from) && to == DType::u64) return cat("to_unsigned(", x, ")");
  if (real(from) && !real(to)) return cat("(", register_type_name(to), ")to_integer(", x, ")");
  return cat("(", register_type_name(to), ")", x);
}

std::string binary_text(Fn fn, const std::string& x, const std::string& y, DType d) {
  const bool boolean = d == DType::boolean;
  const char* suffix = d == DType::f64 ? "(" : "f(";
  const auto wrapped = [&](const char* sign) {
    // Integers wrap around: as unsigned ones, since overflow of signed ones is undefined.
    if (real(d)) return cat(x, sign, y);
    const char* u = size_of(d) == 8 ? "u64" : "u32";
    return cat("(", register_type_name(d), ")((", u, ")", x, sign, "(", u, ")", y, ")");
  };
  switch (fn) {
    case Fn::add: return boolean ? cat(x, " || ", y) : wrapped(" + ");
    case Fn::sub: return wrapped(" - ");
    case Fn::mul: return boolean ? cat(x, " && ", y) : wrapped(" * ");
    case Fn::div: return cat(x, " / ", y);
    case Fn::fmod: return cat("fmod", suffix, x, ", ", y, ")");
    case Fn::pow: return cat("pow", suffix, x, ", ", y, ")");
    case Fn::maximum: return cat("greater(", x, ", ", y, ")");
    case Fn::minimum: return cat("lesser(", x, ", ", y, ")");
    case Fn::eq: return cat(x, " == ", y);
    case Fn::ne: return cat(x, " != ", y);
    case Fn::lt: return cat(x, " < ", y);
    case Fn::le: return cat(x, " <= ", y);
    case Fn::gt: return cat(x, " > ", y);
    case Fn::ge: return cat(x, " >= ", y);
    case Fn::load: case Fn::iota: case Fn::number:
    case Fn::abs: case Fn::neg: case Fn::sign: case Fn::signbit: case Fn::floor: case Fn::logical_not: case Fn::exp:
    case Fn::log: case Fn::sqrt: case Fn::rsqrt: case Fn::reciprocal: case Fn::sin: case Fn::cos: case Fn::tanh:
    case Fn::erf: case Fn::convert: case Fn::where: case Fn::uniform: case Fn::gather: case Fn::select: case Fn::cumsum:
    case Fn::sum: case Fn::amax: case Fn::amin: case Fn::argmax: break;
  }
  fail(Code::internal, "the CUDA target has no binary function ", name(fn));
}

std::string unary_text(Fn fn, const std::string& x, DType d) {
  const bool wide = d == DType::f64;
  const std::string one = wide ? "1.0" : "1.0f";
  switch (fn) {
    case Fn::abs:
      return real(d) ? cat(wide ? "fabs(" : "fabsf(", x, ")")
                     : cat(x, " < 0 ? (", register_type_name(d), ")(0 - ", x, ") : ", x);
    case Fn::neg: return real(d) ? cat("-", x) : cat("(", register_type_name(d), ")(0 - (u64)", x, ")");
    case Fn::sign: return cat("sign(", x, ")");
    case Fn::signbit: return cat(wide ? "__double_as_longlong(" : "__float_as_int(", x, ") < 0");
    case Fn::floor: return real(d) ? cat(wide ? "floor(" : "floorf(", x, ")") : x;
    case Fn::logical_not: return cat(x, " == 0");
    case Fn::rsqrt: return cat(one, " / ", wide ? "sqrt(" : "sqrtf(", x, ")");
    case Fn::reciprocal: return cat(one, " / ", x);
    // The C library's functions.
    case Fn::sqrt: case Fn::exp: case Fn::log: case Fn::sin: case Fn::cos: case Fn::tanh: case Fn::erf:
      return cat(name(fn), wide ? "(" : "f(", x, ")");
    case Fn::load: case Fn::iota: case Fn::number: case Fn::convert:
    case Fn::add: case Fn::sub: case Fn::mul: case Fn::div: case Fn::fmod: case Fn::pow: case Fn::maximum:
    case Fn::minimum: case Fn::eq: case Fn::ne: case Fn::lt: case Fn::le: case Fn::gt: case Fn::ge: case Fn::where:
    case Fn::uniform: case Fn::gather: case Fn::select: case Fn::cumsum:
    case Fn::sum: case Fn::amax: case Fn::amin: case Fn::argmax: break;
  }
  fail(Code::internal, "the CUDA target has no unary function ", name(fn));
}

}  // namespace thunder::loops
