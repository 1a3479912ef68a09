// Which sizes were looked at as numbers while they stood for any: what was decided by them holds for these numbers
// alone.
#pragma once

#include <string>
#include <vector>

#include "ir/dim.h"

namespace thunder {

// What was decided of sizes that stand for any: that it holds, or that it does not.
struct DimCondition {
  enum class Is : uint8_t { equal, less, at_most };
  Dim a, b;
  Is is;
  bool holds;  // when it was decided

  // Whether the same would be decided of these values of the symbols.
  bool stands(const std::vector<int64_t>& symbols) const;
  std::string formula() const;
};

// Compares by what was seen while tracing. Where a side stands for any size that is noted, as a condition.
bool compare(Dim a, DimCondition::Is is, Dim b);

// What was seen while tracing, which nobody notes.
int64_t unnoted_hint(Dim d);

// From its making to its end, `hint` notes on this thread what it is asked of symbols and expressions.
class DimReads {
 public:
  // `as_numbers`: what is compared counts as looked at, and is no condition.
  explicit DimReads(bool as_numbers = false);
  ~DimReads();
  DimReads(const DimReads&) = delete;

  // The innermost on this thread; null: nobody notes.
  static DimReads* current();
  void note(const DimExpr* expr) { noted_.push_back(expr); }
  const std::vector<const DimExpr*>& noted() const { return noted_; }
  void note(const DimCondition& condition);
  const std::vector<DimCondition>& conditions() const { return conditions_; }
  // As if what was noted after the first `count` had not been: it is decided anew whenever the line is.
  void forget_after(size_t count) { noted_.resize(count); }

  // What is noted while it lives is forgotten at its end.
  class Again {
   public:
    Again() : before_(current() ? current()->noted().size() : 0) {}
    ~Again() {
      if (current()) current()->forget_after(before_);
    }
    Again(const Again&) = delete;

   private:
    size_t before_;
  };

  // As long as it lives nobody notes.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;

   private:
    DimReads* paused_;
  };

 private:
  DimReads* outer_;
  const bool as_numbers_;
  std::vector<const DimExpr*> noted_;
  std::vector<DimCondition> conditions_;
};

}  // namespace thunder
