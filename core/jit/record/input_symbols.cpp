#include "jit/record/input_symbols.h"

#include "base/text.h"

namespace thunder {

InputSymbols::InputSymbols(TracingScope& scope, const Tracing& how, const Values& in)
    : scope_(scope),
      mask_(how.mask),
      shapes_(how.shapes),
      kept_(how.kept),
      symbols_(kept_symbols()),
      formulas_(symbols_) {
  const DimMask* const mask = mask_;
  const DynamicShapes* const shapes = shapes_;
  for (size_t leaf = 0; shapes && leaf < mask->size(); leaf++)
    for (size_t dim = 0; dim < (*mask)[leaf].size(); dim++)
      if (const auto number = shapes->symbol(leaf, dim); number && (*mask)[leaf][dim])
        if (auto [it, fresh] = named_.try_emplace(*number); fresh)
          it->second = in[leaf].kind == ArgKind::value ? scope.symbol(in[leaf].tensor->sizes()[dim])
                                                       : scope.integer(in[leaf].i);
}

TensorType InputSymbols::make_symbolic_type(uint32_t leaf, TensorType type) {
  for (size_t dim = 0; kept_ && dim < type.rank(); dim++) type.shape[dim] = formulas_(kept_->formulas[leaf][dim]);
  for (size_t dim = 0; mask_ && dim < (*mask_)[leaf].size(); dim++) {
    if (!(*mask_)[leaf][dim]) continue;
    if (const std::string* formula = shapes_ ? shapes_->formula(leaf, dim) : nullptr) {
      type.shape[dim] = evaluate_formula(*formula, type.shape[dim]);
      if (shapes_->symbol(leaf, dim)) note_place(type.shape[dim], leaf, dim);
      continue;
    }
    auto [it, fresh] = sizes_.try_emplace(type.shape[dim].value());
    if (fresh) it->second = scope_.symbol(it->first);
    type.shape[dim] = it->second;
    note_place(it->second, leaf, dim);
  }
  return type;
}

Dim InputSymbols::make_integer_symbol(uint32_t leaf, int64_t value) {
  if (kept_) return kept_->integers[leaf] ? symbols_[static_cast<size_t>(*kept_->integers[leaf])] : Dim(value);
  if (!mask_ || (*mask_)[leaf].empty() || !(*mask_)[leaf][0]) return value;
  const auto number = shapes_ ? shapes_->symbol(leaf, 0) : std::nullopt;
  const Dim symbol = number ? named_.at(*number) : scope_.integer(value);
  note_place(symbol, leaf, 0);
  return symbol;
}

Dim InputSymbols::evaluate_formula(const std::string& formula, Dim size) const {
  const Dim made = parse_formula(formula, named_).value_or(size);
  const int64_t value = made.constant() ? made.value() : made.expr()->hint;
  if (Dim(value) != size)
    fail(Code::failed_precondition, "compile: option 'dynamic_shapes' says that a size is ", formula, " = ", value,
         ", it is ", name(size));
  return made;
}

void InputSymbols::note_place(Dim symbol, uint32_t leaf, size_t dim) {
  const auto number = static_cast<size_t>(symbol.expr()->a.value());
  if (places.size() <= number) places.resize(number + 1);
  places[number].push_back({leaf, dim});
}

std::vector<Dim> InputSymbols::kept_symbols() const {
  std::vector<Dim> out;
  for (size_t i = 0; kept_ && i < kept_->values.size(); i++) {
    const int64_t value = kept_->values[i];
    out.push_back(!kept_->kept[i] ? Dim(value) : kept_->sizes[i] ? scope_.symbol(value) : scope_.integer(value));
  }
  return out;
}

}  // namespace thunder
