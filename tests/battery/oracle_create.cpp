// Oracles of ops that make tensors of numbers.
#include <cmath>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

Array filled(const Ints& shape, double value) {
  return make(shape, [&](const Ints&) { return value; });
}
Arrays arange(const Arguments& a) {
  double start = a.number(0, 0), end = a.number(1, 0);
  if (!a.has(1)) end = start, start = 0;
  double step = a.number(2, 1);
  const DType dtype = a.dtype(3, DType::none);
  if (dtype == DType::i64) start = std::trunc(start), end = std::trunc(end), step = std::trunc(step);
  const auto n = static_cast<int64_t>(std::ceil((end - start) / step));
  if (is_integer(dtype)) start = std::trunc(start), step = std::trunc(step);
  return {make({n}, [&](const Ints& i) { return start + step * static_cast<double>(i[0]); })};
}

constexpr OracleRow kRows[] = {
    {"full", [](const Arguments& a) { return Arrays{filled(a.ints(0), a.tensor(1).data[0])}; }},
    {"zeros", [](const Arguments& a) { return Arrays{filled(a.ints(0), 0)}; }},
    {"ones", [](const Arguments& a) { return Arrays{filled(a.ints(0), 1)}; }},
    {"full_like", [](const Arguments& a) { return Arrays{filled(a.tensor(0).shape, a.tensor(1).data[0])}; }},
    {"zeros_like", [](const Arguments& a) { return Arrays{filled(a.tensor(0).shape, 0)}; }},
    {"ones_like", [](const Arguments& a) { return Arrays{filled(a.tensor(0).shape, 1)}; }},
    {"zero", [](const Arguments& a) { return Arrays{filled(a.tensor(0).shape, 0)}; }},
    {"arange", arange},
};

}  // namespace

std::span<const OracleRow> create_oracles() { return kRows; }

}  // namespace thunder::battery
