// The inputs on which an op is meant to work: rows give them, tests and the random-program generator draw them.
#pragma once

#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "ir/arg.h"
#include "ir/shape.h"
#include "ops/declare.h"

namespace thunder {

// A random tensor. Reals are uniform in [low, high]; integers in [low, high]; gradients are checked for reals.
struct TensorSpec {
  std::vector<int64_t> shape;
  DType dtype = DType::f32;
  double low = -2, high = 2;
};

TensorSpec integers(std::vector<int64_t> shape, double low, double high);
// Indices into a dim of this size.
TensorSpec indices_below(std::vector<int64_t> shape, int size, DType dtype = DType::i64);

// Out of line, for every op builds some: most of the code of many files would be this.
struct SampleArg {
  std::variant<std::monostate, TensorSpec, std::vector<TensorSpec>, bool, int64_t, double, std::string,
               std::vector<int64_t>, DType>
      value;
  SampleArg();  // None
  SampleArg(TensorSpec t);
  SampleArg(std::vector<TensorSpec> t);
  SampleArg(bool b);
  SampleArg(int i);
  SampleArg(int64_t i);
  SampleArg(double f);
  SampleArg(const char* s);
  SampleArg(std::vector<int64_t> d);
  SampleArg(DType d);
  SampleArg(const SampleArg&);
  SampleArg(SampleArg&&) noexcept;
  SampleArg& operator=(const SampleArg&);
  SampleArg& operator=(SampleArg&&) noexcept;
  ~SampleArg();
};

// One call in schema order; missing trailing arguments take their defaults.
struct Sample {
  std::vector<SampleArg> args;
  bool gradient = true;  // false: not differentiable at these inputs (ties, kinks)
  bool eager = false;    // shapes of results depend on values: it runs at once, and is refused while it is recorded
};

class Samples {
 public:
  Samples();
  ~Samples();
  void add(std::initializer_list<SampleArg> args);
  void add_without_gradient(std::initializer_list<SampleArg> args);
  void add_eager(std::initializer_list<SampleArg> args);
  // Arguments that must be refused, and a word that the message contains.
  void refuse(std::initializer_list<SampleArg> args, std::string_view word);

  std::vector<Sample> all;
  std::vector<std::pair<Sample, std::string>> refused;
};

}  // namespace thunder
