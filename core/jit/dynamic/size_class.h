// A symbolic trace compiled for a class of sizes: the stages that work on lines ran once, on symbols, and what they
// decided of sizes are conditions. For other sizes of the class numbers take the symbols' place in the lines that were
// left, and only kernels and memory are made.
#pragma once

#include "jit/dynamic/symbolic_program.h"

namespace thunder {

class SizeClass {
 public:
  // Why sizes are compiled alone.
  struct Alone {
    std::string why;
    bool by_chance = false;  // one is equal to a size that does not vary; others may be in a class
  };
  // The class of these inputs, which fit the program. Null, and why: each size was looked at as a number, or the
  // program has what is made for each size anew. Throws what a stage reports, which may be no error with plain sizes.
  static std::unique_ptr<SizeClass> derive(const Wanted& wanted, const SymbolicProgram& of, InterruptCheck& check,
                                           Alone& alone);
  // The program for inputs that fit the symbolic one; null: they are of another class. Throws as a compile does.
  std::unique_ptr<Entry> program_for(const Wanted& wanted, InterruptCheck& check);
  // The conditions, as guards are written.
  const std::string& text() const { return text_; }
  // Whether a size that is a symbol of the program is a number in it.
  bool has_numbers() const;

 private:
  SizeClass(const SymbolicProgram& of, std::unique_ptr<Entry> lines, KeptSymbols symbols)
      : of_(of), lines_(std::move(lines)), symbols_(std::move(symbols)), conditions_(lines_->conditions),
        plan_(lines_->traces.back()), text_(list_conditions()) {}
  std::string list_conditions() const;
  std::unique_ptr<Entry> make_entry(const Wanted& wanted, const SizesOfClass& of) const;

  const SymbolicProgram of_;
  const std::shared_ptr<const Entry> lines_;  // has no program; its last trace is claimed, and has symbols
  const KeptSymbols symbols_;                 // when it was derived: what is no symbol of the lines has its value
  const Conditions conditions_;               // of the lines
  ClassPlan plan_;
  const std::string text_;
};

}  // namespace thunder
