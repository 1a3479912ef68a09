// Formulas with other sizes in the place of their symbols: numbers, or formulas of another trace.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/trace.h"

namespace thunder {

class Substitution {
 public:
  // `symbols`: by number, what each stands for.
  explicit Substitution(std::vector<Dim> symbols) : symbols_(std::move(symbols)) {}

  // Throws on overflow and on division by zero. Nothing recurses, since formulas may be deep.
  Dim operator()(Dim d) { return d.constant() ? d : replace(d); }
  // Replaces a symbol for what is asked from here on.
  void set(size_t symbol, Dim to) { symbols_.at(symbol) = to, known_.clear(); }

 private:
  Dim replace(Dim d);

  std::vector<Dim> symbols_;
  std::unordered_map<const DimExpr*, Dim> known_;
};

// Traces of one store with sizes in the place of their symbols. Values keep their numbers, and lines without symbols
// are those of the old trace.
class Specialisation {
 public:
  // Throws where a size is negative or a formula has no value. `sizes` must live as long.
  Specialisation(const std::shared_ptr<Store>& from, Substitution& sizes)
      : sizes_(sizes), store_(Store::make_specialised(from, sizes)) {}

  Trace operator()(const Trace& trace);
  const Node* operator()(const Node* node) { return specialise(node); }
  const Store& store() const { return *store_; }

 private:
  const Node* specialise(const Node* node);

  Substitution& sizes_;
  const std::shared_ptr<Store> store_;
  std::unordered_map<const Node*, const Node*> made_;  // traces of one store share lines
};

// The lines of a store with numbers in the place of their symbols, made when they are first asked for.
class SizedLines {
 public:
  SizedLines(std::shared_ptr<Store> from, std::span<const int64_t> symbols)
      : from_(std::move(from)), sizes_(std::vector<Dim>(symbols.begin(), symbols.end())) {}
  Specialisation& get() {
    if (!made_) made_.emplace(from_, sizes_);
    return *made_;
  }

 private:
  const std::shared_ptr<Store> from_;
  Substitution sizes_;
  std::optional<Specialisation> made_;
};

}  // namespace thunder
