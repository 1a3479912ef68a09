// Tables of numbers as text: comma-separated values.
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace thunder {

struct CsvOptions {
  enum class Header { guess, yes, no };  // guess: the first row is one if a field of it is text

  DType dtype = DType::f32;  // or f64
  char separator = ',';
  Header header = Header::guess;
};

struct Csv {
  Ref<Tensor> values;                // [rows, columns]
  std::vector<std::string> columns;  // the header's names; empty without one
};

// RFC 4180, blank lines left out. Errors name line and column, both counted from 1.
Csv load_csv(const std::string& path, const CsvOptions& options, const Allocator& allocator);

}  // namespace thunder
