// Programs for sizes that vary: functions traced with symbols, and what was compiled of them.
#pragma once

#include "jit/compile/compile.h"
#include "jit/record/dim_masks.h"
#include "jit/dynamic/size_class.h"

namespace thunder {

// The function traced with a symbol for each size of 2 and more that can stand for others, and no program yet. Null:
// there is none.
std::unique_ptr<Entry> record_any_size(Context& context, Function& function, const Values& in);

// The symbolic programs of one compiled function. One thread at a time.
class Dynamic {
 public:
  // The program for these inputs, compiled now of a trace with symbols. Null: their sizes do not vary as far as is
  // known, or the function cannot be traced so. `kept`: programs that have been compiled. Throws where a size that is
  // marked to vary cannot.
  std::unique_ptr<Entry> program_for(const Wanted& wanted, DynamicSizes which, std::span<const Entry* const> kept,
                                     InterruptCheck& check);
  // Adds a program from a file; does nothing if it has no symbols.
  void add(std::string_view function, const SavedProgram& program);
  // The programs whose guards hold.
  std::vector<SavedProgram> saved() const;

 private:
  std::unique_ptr<Entry> specialise(const Wanted& wanted, InterruptCheck& check);
  // Traces the function with symbols; returns whether that added a symbolic program.
  bool trace_with_symbols(const Wanted& wanted, const DimMask& mask);

  // The limit for one function; calls that fit none of them are then compiled with plain sizes.
  static constexpr size_t kMostTraces = 8;

  struct Traced {
    std::shared_ptr<const SymbolicProgram> program;
    std::vector<std::unique_ptr<SizeClass>> classes;  // the one that was derived last in front
    size_t alone = 0;  // times that there was none, or one for a size that is a number in it
  };
  std::unique_ptr<Entry> specialise_by_class(const Wanted& wanted, Traced& traced, InterruptCheck& check);

  // Of one trace; a size that fits none of them is then compiled in full.
  static constexpr size_t kMostClasses = 12;
  static constexpr size_t kMostAlone = 4;
  std::vector<Traced> programs_;
  std::vector<SharedSizes> failed_;  // what the function cannot be traced with
  size_t traced_ = 0;
};

}  // namespace thunder
