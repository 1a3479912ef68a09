// Trees of arguments and results as one flat list: leaves, and marks where lists and maps begin and end.
#pragma once
#include <string>
#include <vector>

#include "handles.h"

namespace thunder_swig {

struct Item {
  int kind;  // of enum Kind
  std::string name, text;
  long long integer = 0;
  double real = 0;
  std::vector<Tensor> tensor;  // one or none
};
using Items = std::vector<Item>;

// Throws Refusal. The index of the item behind the value that begins at `at`.
size_t end_of_value(const Items& items, size_t at);

void fill_values(const Items& items, thunder_values* out);
// `traced`: floats stay live, as tensors.
Items items_of(const thunder_values* values, bool traced);

// The exception that carries an owned failed status up to Call.
struct Refusal {
  thunder_status* status;
};
void check(thunder_status* status);
[[noreturn]] void refuse(thunder_code code, const std::string& text);

struct Values {
  explicit Values(thunder_context* context) { check(thunder_values_create(context, &handle)); }
  Values(const Values&) = delete;
  ~Values() { thunder_values_release(handle); }
  operator thunder_values*() const { return handle; }
  thunder_values* handle = nullptr;
};

}  // namespace thunder_swig
