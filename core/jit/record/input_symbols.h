// The symbols that stand for sizes and integers of a call's inputs while a function is traced.
#pragma once

#include <map>
#include <optional>

#include "ir/symbolic/substitution.h"
#include "jit/record/shapes.h"
#include "tracer/tracing.h"

namespace thunder {

// The inputs that a trace with symbols has besides tensors.
struct SymbolicInputs {
  std::shared_ptr<const Entry> recorded;
  std::span<const Dim> formulas;  // of integers that may be live
};

// A trace that was recorded with symbols, for the inputs of a call.
struct KeptSymbols {
  std::vector<Shape> formulas;                   // by leaf: of a tensor's sizes
  std::vector<std::optional<int64_t>> integers;  // by leaf: the symbol of an integer
  std::vector<int64_t> values;                   // by symbol, in this call
  std::vector<bool> sizes;                       // by symbol: it is a size, of 2 or more; else an integer
  std::vector<bool> kept;                        // by symbol: it is a symbol of the lines, too; else its value
  bool writes = false;                           // the function wrote tensors, be it only what it had made
};

// For each symbol the leaves and dims that have it.
using SymbolPlaces = std::vector<std::vector<std::pair<uint32_t, size_t>>>;

// How inputs are traced: with symbols where a mask says so, or with the numbers of a replayed trace, or some of its
// symbols.
struct Tracing {
  const DimMask* mask = nullptr;
  SymbolPlaces places;  // filled
  const SymbolicInputs* symbolic = nullptr;
  const DynamicShapes* shapes = nullptr;  // with a mask
  const KeptSymbols* kept = nullptr;
};

// Replaces the sizes in a mask by symbols: one for all equal sizes, and one for each integer. Or all by the formulas of
// a trace.
class InputSymbols {
 public:
  InputSymbols(TracingScope& scope, const Tracing& how, const Values& in);

  TensorType make_symbolic_type(uint32_t leaf, TensorType type);
  // A constant where it stands for itself alone.
  Dim make_integer_symbol(uint32_t leaf, int64_t value);
  SymbolPlaces places;

 private:
  // The caller's formula for a size, or the size itself if the formula has a symbol that this trace lacks.
  Dim evaluate_formula(const std::string& formula, Dim size) const;
  void note_place(Dim symbol, uint32_t leaf, size_t dim);
  std::vector<Dim> kept_symbols() const;

  TracingScope& scope_;
  const DimMask* mask_;
  const DynamicShapes* shapes_;
  const KeptSymbols* kept_;
  const std::vector<Dim> symbols_;  // by number, of those that are kept
  Substitution formulas_;
  std::map<int64_t, Dim> sizes_, named_;
};

}  // namespace thunder
