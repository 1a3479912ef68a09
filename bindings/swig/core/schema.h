// Signatures of ops and of kinds of modules, and arguments made to fit them.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "items.h"

namespace thunder_swig {

struct Parameter {
  std::string name, kind;  // "tensor", "int[]" ...
};
struct Schema {
  std::vector<Parameter> parameters;
  size_t results = 1;  // 0: the arguments say how many
};

// The schema of an op or of a kind of module; NULL if there is none of this name.
const Schema* find_schema(const std::string& what, const std::string& name);

// Items as the arguments of an op. A language that has one kind of number, or no booleans and no dtypes, is understood:
// a text is a dtype, a device or a number where the schema has one, a whole number is a list where it has a list.
struct Arguments {
  Arguments(const Items& items, const Schema* schema);
  std::vector<thunder_any> any;
  std::vector<const char*> names;  // empty: all by position

 private:
  void add(const Items& items, size_t at, size_t end, const std::string& kind);
  void add_list(const Items& items, size_t at, size_t end, const std::string& kind);
  std::deque<std::vector<int64_t>> dims_;
  std::deque<std::vector<double>> floats_;
  std::deque<std::vector<thunder_tensor*>> tensors_;
};

}  // namespace thunder_swig
