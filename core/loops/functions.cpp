#include "loops/functions.h"

namespace thunder::loops {
namespace {

struct Facts {
  std::string_view name;
  uint8_t cost;
};

constexpr Facts facts(Fn fn) {
  switch (fn) {
    case Fn::load: return {"load", 0};
    case Fn::iota: return {"iota", 1};
    case Fn::number: return {"number", 0};
    case Fn::abs: return {"abs", 1};
    case Fn::neg: return {"neg", 1};
    case Fn::sign: return {"sign", 3};
    case Fn::signbit: return {"signbit", 1};
    case Fn::floor: return {"floor", 1};
    case Fn::logical_not: return {"logical_not", 1};
    case Fn::exp: return {"exp", 12};
    case Fn::log: return {"log", 14};
    case Fn::sqrt: return {"sqrt", 8};
    case Fn::rsqrt: return {"rsqrt", 16};
    case Fn::reciprocal: return {"reciprocal", 8};
    case Fn::sin: return {"sin", 25};
    case Fn::cos: return {"cos", 25};
    case Fn::tanh: return {"tanh", 20};
    case Fn::erf: return {"erf", 20};
    case Fn::convert: return {"convert", 1};
    case Fn::add: return {"add", 1};
    case Fn::sub: return {"sub", 1};
    case Fn::mul: return {"mul", 1};
    case Fn::div: return {"div", 8};
    case Fn::fmod: return {"fmod", 100};
    case Fn::pow: return {"pow", 200};
    case Fn::maximum: return {"maximum", 2};
    case Fn::minimum: return {"minimum", 2};
    case Fn::eq: return {"eq", 1};
    case Fn::ne: return {"ne", 1};
    case Fn::lt: return {"lt", 1};
    case Fn::le: return {"le", 1};
    case Fn::gt: return {"gt", 1};
    case Fn::ge: return {"ge", 1};
    case Fn::where: return {"where", 1};
    case Fn::uniform: return {"philox_uniform", 60};
    case Fn::gather: return {"gather", 4};
    case Fn::select: return {"select", 1};
    case Fn::cumsum: return {"cumsum", 8};
    case Fn::sum: return {"sum", 1};
    case Fn::amax: return {"amax", 2};
    case Fn::amin: return {"amin", 2};
    case Fn::argmax: return {"argmax", 3};
  }
  return {"", 0};
}

}  // namespace

std::string_view name(Fn fn) { return facts(fn).name; }
uint8_t cost(Fn fn) { return facts(fn).cost; }

}  // namespace thunder::loops
