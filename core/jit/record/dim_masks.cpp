#include "jit/record/dim_masks.h"

#include <algorithm>
#include <map>

namespace thunder {

bool may_vary(const Leaf& l, size_t dim) {
  if (l.kind == ArgKind::integer) return true;
  return l.kind == ArgKind::value && l.tensor->concrete() && l.tensor->contiguous() && l.tensor->sizes()[dim] >= 2;
}

DimMask make_empty_mask(const Values& in) {
  DimMask mask(in.size());
  for (size_t leaf = 0; leaf < in.size(); leaf++) {
    if (in[leaf].kind == ArgKind::value && in[leaf].tensor->concrete())
      mask[leaf].resize(in[leaf].tensor->type().rank());
    if (in[leaf].kind == ArgKind::integer) mask[leaf].resize(1);
  }
  return mask;
}

DimMask make_full_mask(const Values& in) {
  DimMask mask = make_empty_mask(in);
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++) mask[leaf][dim] = may_vary(in[leaf], dim);
  return mask;
}

DimMask varying_dims(const Entry& entry, const Values& in) {
  if (entry.inputs.structure != in.structure()) return {};
  DimMask mask = make_empty_mask(in);
  for (size_t leaf = 0; leaf < in.size(); leaf++) {
    const Leaf& was = entry.inputs.leaves[leaf];
    if (was.kind == ArgKind::integer && in[leaf].kind == ArgKind::integer) mask[leaf][0] = was.i != in[leaf].i;
  }
  for (size_t i = 0; i < entry.leaves; i++) {
    if (entry.bindings[i].formula) continue;
    const uint32_t leaf = entry.bindings[i].leaf;
    const TensorType& was = entry.traces.front().type(entry.traces.front().inputs[i].value);
    const bool is_tensor = in[leaf].kind == ArgKind::value;  // it may be a number now
    if ((was.rank() && !is_tensor) || mask[leaf].size() != was.rank()) return {};
    for (size_t dim = 0; dim < was.rank(); dim++) {
      if (was.shape[dim] == Dim(in[leaf].tensor->sizes()[dim])) continue;
      if (!may_vary(in[leaf], dim) || (was.shape[dim].constant() && was.shape[dim].value() < 2)) return {};
      mask[leaf][dim] = true;
    }
  }
  return mask;
}

bool any_dim(const DimMask& mask) {
  return std::any_of(mask.begin(), mask.end(),
                     [](auto& dims) { return std::find(dims.begin(), dims.end(), true) != dims.end(); });
}

OneSize identify_size(const Values& in, size_t leaf, size_t dim) {
  const bool integer = in[leaf].kind == ArgKind::integer;
  return {integer, integer ? static_cast<int64_t>(leaf) : in[leaf].tensor->sizes()[dim]};
}

DimMask dims_of_size(const Values& in, DimMask mask, OneSize size) {
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++)
      mask[leaf][dim] = mask[leaf][dim] && identify_size(in, leaf, dim) == size;
  return mask;
}

void add(DimMask& mask, const DimMask& more) {
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++) mask[leaf][dim] = mask[leaf][dim] || more[leaf][dim];
}

SharedSizes shared_sizes(const Values& in, const DimMask& mask) {
  SharedSizes out(mask.size());
  std::map<OneSize, uint32_t> first;
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++)
      out[leaf].push_back(
          mask[leaf][dim] ? first.try_emplace(identify_size(in, leaf, dim), first.size() + 1).first->second : 0);
  return out;
}

}  // namespace thunder
