// The library's own prims as numbers: what knows one cannot misspell it, and a table of them cannot leave one out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace thunder {

// prims.inc is made of the rows in ops/defs by cmake/Prims.cmake, in the order of their names.
enum class Prim : uint8_t {
#define THUNDER_PRIM(name) name,
#include "ir/prims.inc"
#undef THUNDER_PRIM
  none = 255,  // a composite, or an op of a caller's
};
constexpr size_t kPrims = 0
#define THUNDER_PRIM(name) +1
#include "ir/prims.inc"
#undef THUNDER_PRIM
    ;
static_assert(kPrims < 255);

// As traces have it: prims.add; empty for none.
constexpr std::string_view name(Prim prim) {
  constexpr std::array<std::string_view, kPrims> names = {
#define THUNDER_PRIM(name) "prims." #name,
#include "ir/prims.inc"
#undef THUNDER_PRIM
  };
  return prim == Prim::none ? std::string_view() : names[static_cast<size_t>(prim)];
}

// None where there is no such prim.
constexpr Prim find_prim(std::string_view wanted) {
  size_t first = 0;
  for (size_t end = kPrims; first < end;) {
    const size_t middle = (first + end) / 2;
    if (name(static_cast<Prim>(middle)) < wanted) first = middle + 1;
    else end = middle;
  }
  return first < kPrims && name(static_cast<Prim>(first)) == wanted ? static_cast<Prim>(first) : Prim::none;
}

// A convolution, or the gradient of one's input or weight.
constexpr bool is_convolution(Prim prim) {
  return prim == Prim::conv2d || prim == Prim::conv2d_input_grad || prim == Prim::conv2d_weight_grad;
}

// Finds the row of a prim in a table, whose rows have a member `prim`. A table that has to know all of them says so by
// including ir/prims.inc with a static_assert.
template <class Row>
class PrimTable {
 public:
  template <size_t N>
  consteval explicit PrimTable(const Row (&rows)[N]) : rows_(rows) {
    at_.fill(kNone);
    for (size_t i = 0; i < N; i++) {
      uint8_t& at = at_[static_cast<size_t>(rows[i].prim)];
      if (at != kNone) throw "a prim has two rows";
      at = static_cast<uint8_t>(i);
    }
  }
  // Null: the prim has no row.
  constexpr const Row* find(Prim prim) const {
    if (prim == Prim::none) return nullptr;
    const uint8_t at = at_[static_cast<size_t>(prim)];
    return at == kNone ? nullptr : rows_ + at;
  }

 private:
  static constexpr uint8_t kNone = 255;  // more than there are prims
  const Row* rows_;
  std::array<uint8_t, kPrims> at_{};
};

}  // namespace thunder
