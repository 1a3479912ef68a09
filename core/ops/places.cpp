#include "ops/places.h"

#include "ir/prim.h"

namespace thunder {

int64_t how_many(const Call& c, Var flags) {
  Shape axes;
  for (size_t i = 0; i < flags.rank(); i++) axes.push_back(static_cast<int64_t>(i));
  Var numbers = convert(flags, DType::i64);
  return c.value_of(axes.empty() ? numbers : c.builder.call(Prim::sum, {numbers, axes}));
}

Var nonzero_places(const Call& c, Var x) {
  Var flags = x.dtype() == DType::boolean ? x : c.builder.call("ne", {x, 0});
  return c.builder.call(Prim::nonzero, {flags, how_many(c, flags), -1});
}

std::vector<Var> places_by_dim(const Call& c, Var x) {
  Var places = nonzero_places(c, x);
  std::vector<Var> out;
  for (size_t d = 0; d < x.rank(); d++) out.push_back(c.builder.call("select", {places, 1, static_cast<int64_t>(d)}));
  return out;
}

Var picked(const Call& c, Var x, Var mask) {
  const Shape flat{elements(x.shape())};
  // Element by element, which costs less than slices of one.
  return c.builder.call(Prim::gather, {reshape_to(x, flat), 0, places_by_dim(c, reshape_to(mask, flat))[0]});
}

}  // namespace thunder
