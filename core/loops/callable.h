// The functions of the C library that generated code may call, as linked into the unit that includes this header.
#pragma once

#include <array>
#include <cmath>
#include <cstring>

namespace thunder::loops {

struct Callable {
  const char* name;
  void* address;
};

inline auto callable_functions() {
  using F = float (*)(float);
  using D = double (*)(double);
  const auto of = [](const char* name, auto* function) { return Callable{name, reinterpret_cast<void*>(function)}; };
  return std::array{
      of("exp", static_cast<D>(std::exp)),
      of("log", static_cast<D>(std::log)),
      of("sin", static_cast<D>(std::sin)),
      of("cos", static_cast<D>(std::cos)),
      of("tanh", static_cast<D>(std::tanh)),
      of("erf", static_cast<D>(std::erf)),
      of("floor", static_cast<D>(std::floor)),
      of("floorf", static_cast<F>(std::floor)),
      of("pow", static_cast<double (*)(double, double)>(std::pow)),
      of("powf", static_cast<float (*)(float, float)>(std::pow)),
      of("fmod", static_cast<double (*)(double, double)>(std::fmod)),
      of("fmodf", static_cast<float (*)(float, float)>(std::fmod)),
      of("memset", static_cast<void* (*)(void*, int, size_t)>(std::memset)),
      of("memcpy", static_cast<void* (*)(void*, const void*, size_t)>(std::memcpy)),
  };
}

}  // namespace thunder::loops
