// Oracles: what ops mean, as naive loops in double precision that share nothing with the library's kernels.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"

namespace thunder::battery {

using Ints = std::vector<int64_t>;

struct Array {
  Ints shape;
  std::vector<double> data;  // row-major
  DType dtype = DType::none;  // of arguments; what an oracle returns is judged in the dtype of the op's result
};

// One argument in every form that it has: a number also stands as a 0-d array, an integer also as a list of one.
struct Argument {
  bool present = false;
  std::vector<Array> tensors;
  double number = 0;
  std::string text;
  Ints ints;
  DType dtype = DType::none;
};

// A call's arguments in schema order. Missing trailing ones take what the oracle says.
class Arguments {
 public:
  explicit Arguments(std::vector<Argument> all) : all_(std::move(all)) {}
  bool has(size_t i) const { return i < all_.size() && all_[i].present; }
  const Array& tensor(size_t i) const { return all_[i].tensors.at(0); }
  const std::vector<Array>& tensors(size_t i) const { return all_[i].tensors; }
  double number(size_t i, double otherwise) const { return has(i) ? all_[i].number : otherwise; }
  int64_t integer(size_t i, int64_t otherwise) const { return has(i) ? static_cast<int64_t>(all_[i].number) : otherwise; }
  bool flag(size_t i, bool otherwise) const { return has(i) ? all_[i].number != 0 : otherwise; }
  std::string text(size_t i, std::string otherwise) const { return has(i) ? all_[i].text : otherwise; }
  Ints ints(size_t i, Ints otherwise = {}) const { return has(i) ? all_[i].ints : otherwise; }
  DType dtype(size_t i, DType otherwise) const { return has(i) ? all_[i].dtype : otherwise; }

 private:
  std::vector<Argument> all_;
};

using Arrays = std::vector<Array>;
using Oracle = Arrays (*)(const Arguments&);
struct OracleRow {
  std::string_view op;
  Oracle oracle;
};

// One table a family of ops. Unary and binary ones are elementwise: they also meet NaN and infinities.
std::span<const OracleRow> unary_oracles();
std::span<const OracleRow> binary_oracles();
std::span<const OracleRow> ternary_oracles();
std::span<const OracleRow> element_oracles();
std::span<const OracleRow> reduce_oracles();
std::span<const OracleRow> create_oracles();
std::span<const OracleRow> shape_oracles();
std::span<const OracleRow> index_oracles();
std::span<const OracleRow> matrix_oracles();
std::span<const OracleRow> window_oracles();
std::span<const OracleRow> norm_oracles();
std::span<const OracleRow> loss_oracles();
std::span<const OracleRow> order_oracles();
std::span<const OracleRow> pool_oracles();
std::span<const OracleRow> image_oracles();
std::span<const OracleRow> piece_oracles();
std::span<const OracleRow> number_oracles();
std::span<const OracleRow> product_oracles();
std::span<const OracleRow> scatter_oracles();
std::span<const OracleRow> linalg_oracles();
std::span<const OracleRow> activation_oracles();
std::span<const OracleRow> elementwise_loss_oracles();
std::span<const OracleRow> recurrent_oracles();
std::span<const OracleRow> nonzero_oracles();
std::span<const OracleRow> collective_oracles();
Oracle find_oracle(std::string_view op);

// ---- what the loops are made of ----

inline int64_t count(const Ints& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}
inline size_t axis_of(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank ? rank : 1) : axis);
}
// Calls f(index) for each index in row-major order.
template <class F>
void each_index(const Ints& shape, F&& f) {
  Ints index(shape.size(), 0);
  for (int64_t n = count(shape); n > 0; n--) {
    f(static_cast<const Ints&>(index));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}
inline size_t place(const Ints& shape, const Ints& index) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); d++) {
    if (index[d] < 0 || index[d] >= shape[d]) throw std::out_of_range("an oracle reads outside of an array");
    at = at * shape[d] + index[d];
  }
  return static_cast<size_t>(at);
}
inline double at(const Array& a, const Ints& index) { return a.data[place(a.shape, index)]; }
inline double& at(Array& a, const Ints& index) { return a.data[place(a.shape, index)]; }
// The element of `a` that broadcasts to `index` of a larger shape.
inline double broadcast_at(const Array& a, const Ints& index) {
  Ints own(a.shape.size());
  const size_t skipped = index.size() - own.size();
  for (size_t d = 0; d < own.size(); d++) own[d] = a.shape[d] == 1 ? 0 : index[skipped + d];
  return at(a, own);
}
inline Ints broadcast_shape(const Ints& a, const Ints& b) {
  Ints out(std::max(a.size(), b.size()), 1);
  for (const Ints* s : {&a, &b})
    for (size_t d = 0; d < s->size(); d++)
      if ((*s)[d] != 1) out[out.size() - s->size() + d] = (*s)[d];
  return out;
}
// The array whose element at each index is f(index).
template <class F>
Array make(const Ints& shape, F&& f) {
  Array out{shape, {}, DType::none};
  each_index(shape, [&](const Ints& index) { out.data.push_back(f(index)); });
  return out;
}

}  // namespace thunder::battery
