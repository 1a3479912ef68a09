// The option dynamic_shapes, applied to the sizes of a call's arguments.
#pragma once

#include <map>
#include <optional>

#include "jit/record/dim_masks.h"
#include "jit/options/compile_options.h"

namespace thunder {

// Sizes by names: "0:s0,*;1:(s0*s1),64" says that the second size of argument 0 is what it is, and that the first one
// of argument 1 is a product. Sizes of one name are equal, those of others may be.
class DynamicShapes {
 public:
  DynamicShapes() = default;
  // Throws if the text does not fit the arguments.
  DynamicShapes(const CompileOptions& options, const Values& in);

  bool empty() const { return formulas_.empty(); }
  // The sizes that are not known to be their numbers, and may be symbols.
  DimMask mask(const Values& in) const;
  // The option's formula for a dim of a leaf, or null.
  const std::string* formula(size_t leaf, size_t dim) const;
  // The number of its name, where the size has one for itself.
  std::optional<int64_t> symbol(size_t leaf, size_t dim) const;

 private:
  std::map<std::pair<size_t, size_t>, std::string> formulas_;
};

// A formula of names "s0", numbers, + - * / % and parentheses, which every operation but a single one has. None: it has
// a name that is not among the symbols. Throws where it is none.
std::optional<Dim> parse_formula(std::string_view formula, const std::map<int64_t, Dim>& symbols);

}  // namespace thunder
