// Programs as a file holds them: a trace as it was written, what the values of a call were when it was made, and the
// tensors that it captured. Together they are a function, which needs nothing of the one that was traced.
#pragma once

#include <optional>

#include "cache/entry.h"
#include "tracer/replay.h"

namespace thunder {

class Context;

// A leaf of a program's inputs.
struct SavedInput {
  static constexpr uint32_t kConstant = 0xffffffff;
  uint32_t argument = kConstant;    // i[argument + 1] of the trace
  Sizes strides{};                  // of an argument that was strided; of a dense one none
  std::optional<double> value{};    // of an argument that the function read as a number
  Leaf constant{};                  // of anything else
  std::optional<int64_t> symbol{};  // of an integer that stands for any
};

struct SavedProgram {
  Trace trace;
  std::string structure;  // of the inputs
  std::vector<SavedInput> inputs;
  std::string result_structure;
  std::vector<ResultLeaf> results;    // their outputs count up
  std::vector<Ref<Tensor>> captured;  // by input of the trace; null for arguments and the random state
  // Of a program with symbols: formulas of integers that may be live, and in which memory values lie (ReplayCall); what
  // was decided of its symbols, and for which sizes it was asked.
  std::vector<Dim> formulas;
  std::vector<ValueId> roots;
  std::vector<DimCondition> conditions;
  std::vector<SizeRange> ranges;
  std::shared_ptr<const Store> terms;  // of the conditions, where it is not that of the trace
  std::vector<int64_t> memory;         // what roots were written as (number_memory_roots), until the trace is read
  // A model's names of its symbolic dims, by symbol; missing or "": unnamed. Calls do not depend on them.
  std::vector<std::string> symbol_names;
};

// Roots as a file has them: by input and result of a line, in order, the place in that order of the value in whose
// memory it lies; -1: none. And back, when a trace was read; throws where they are not of its values.
std::vector<int64_t> number_memory_roots(const SavedProgram& program);
void restore_memory_roots(SavedProgram& program);

// A constant among a program's inputs, as errors and signatures show it.
std::string format_constant(const Leaf& leaf);

// The formulas of integers that lines of the program's trace take as numbers.
std::vector<Dim> collect_integer_formulas(const SavedProgram& program);

// The program of an entry. Throws where a file could not hold it.
SavedProgram saved_program(const Entry& entry, const Context& context);

// What the symbols among the integers of a call stand for.
std::vector<IntegerValue> integer_symbols(const SavedProgram& program, const Values& in);

// Runs the program that was made for what it is given.
class SavedFunction : public Function {
 public:
  // Throws when a program does not fit together: it may come from anywhere.
  SavedFunction(std::string name, std::vector<SavedProgram> programs);
  Ref<Status> call(Scope& scope, const Values& in, Values& out) override;
  const std::vector<SavedProgram>& programs() const { return programs_; }
  // Whether the only program fits these values, which are concrete, layouts too.
  bool fits(const Values& in) const;

 private:
  const SavedProgram& choose(Scope& scope, const Values& in) const;

  const std::vector<SavedProgram> programs_;
};

}  // namespace thunder
