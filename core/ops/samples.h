// The inputs on which an op is meant to work: rows give them, tests and the random-program generator draw them.
#pragma once

#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "ir/arg.h"
#include "ir/shape.h"

namespace thunder {

// A random tensor. Reals are uniform in [low, high]; integers in [low, high]; gradients are checked for reals.
struct TensorSpec {
  std::vector<int64_t> shape;
  DType dtype = DType::f32;
  double low = -2, high = 2;
};

inline TensorSpec integers(std::vector<int64_t> shape, double low, double high) {
  return {std::move(shape), DType::i64, low, high};
}
// Indices into a dim of this size.
inline TensorSpec indices_below(std::vector<int64_t> shape, int size, DType dtype = DType::i64) {
  return {std::move(shape), dtype, 0, size - 1.0};
}
struct SampleArg {
  std::variant<std::monostate, TensorSpec, std::vector<TensorSpec>, bool, int64_t, double, std::string,
               std::vector<int64_t>, DType>
      value;
  SampleArg() = default;  // None
  SampleArg(TensorSpec t) : value(std::move(t)) {}
  SampleArg(std::vector<TensorSpec> t) : value(std::move(t)) {}
  SampleArg(bool b) : value(b) {}
  SampleArg(int i) : value(static_cast<int64_t>(i)) {}
  SampleArg(int64_t i) : value(i) {}
  SampleArg(double f) : value(f) {}
  SampleArg(const char* s) : value(std::string(s)) {}
  SampleArg(std::vector<int64_t> d) : value(std::move(d)) {}
  SampleArg(DType d) : value(d) {}
};

// One call in schema order; missing trailing arguments take their defaults.
struct Sample {
  std::vector<SampleArg> args;
  bool gradient = true;  // false: not differentiable at these inputs (ties, kinks)
  bool eager = false;    // shapes of results depend on values: it runs at once, and is refused while it is recorded
};

class Samples {
 public:
  void add(std::initializer_list<SampleArg> args) { all.push_back({args, true, false}); }
  void add_without_gradient(std::initializer_list<SampleArg> args) { all.push_back({args, false, false}); }
  void add_eager(std::initializer_list<SampleArg> args) { all.push_back({args, true, true}); }
  // Arguments that must be refused, and a word that the message contains.
  void refuse(std::initializer_list<SampleArg> args, std::string word) {
    refused.push_back({{args, false}, std::move(word)});
  }

  std::vector<Sample> all;
  std::vector<std::pair<Sample, std::string>> refused;
};

}  // namespace thunder
