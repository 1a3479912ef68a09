// Nested lists of numbers, as they come from a language, on their way to one tensor.
#pragma once
#include <thunder.h>

#include <cstdint>
#include <string>
#include <vector>

namespace thunder_swig {

class Nested {
 public:
  void open();
  void close();
  void flag(bool value) { add({value, 0}, 'b'); }
  void integer(int64_t value) { add({value, 0}, 'i'); }
  void real(double value) { add({0, value}, 'r'); }
  void note_non_number(const char* what);  // no number; and no list

  // The message of the first mistake in what was given; "" without one.
  const std::string& mistake() const { return mistake_; }
  // The dtype inferred from the elements: boolean for booleans alone, i64 for integers alone, f32 for all else.
  thunder_dtype dtype() const;
  const std::vector<int64_t>& shape() const { return shape_; }
  // The elements in row-major order, as a tensor of this dtype holds them.
  std::string packed(thunder_dtype dtype) const;

 private:
  struct Number {
    int64_t integer;
    double real;
  };
  void add(Number number, char kind);
  void note_shape_mismatch(const std::string& is, size_t depth);

  std::vector<Number> numbers_;
  std::vector<int64_t> shape_;   // by depth; -1: no list of this depth has ended yet
  std::vector<int64_t> counts_;  // of the lists that are open
  bool has_rank_ = false;        // a number was seen, at the depth of shape_
  bool booleans_ = true, integers_ = true;
  std::string mistake_;
};

}  // namespace thunder_swig
