// What a tensor is a part of, where ranks hold one together.
#pragma once

#include <cstdint>
#include <string>

namespace thunder {

// Rank `index` of the `ranks` of an axis has this part of a tensor's rows, which are along `dim`: all parts have as
// many, and those behind the last row of the whole are zero.
struct Sharding {
  std::string axis;
  int64_t ranks = 1, index = 0;
  int64_t rows = 0;     // of the whole
  bool reshard = true;  // the whole is freed when it was used, and gathered again
  int64_t unit = 0;     // its number: what is gathered together
  int64_t dim = 0;
  int64_t blocks = 1;    // of the rows, one below the other: a rank has its part of each
  bool gathered = true;  // for a forward; else each rank computes with its part
  int64_t part() const { return (rows + ranks - 1) / ranks; }
  int64_t first() const { return index * part() < rows ? index * part() : rows; }
  int64_t own_rows() const { return rows - first() < part() ? rows - first() : part(); }
};

}  // namespace thunder
