// Which sizes were looked at as numbers while they stood for any: what was decided by them holds for these numbers alone.
#pragma once

#include <vector>

#include "ir/dim.h"

namespace thunder {

// From its making to its end, `hint` notes on this thread what it is asked of symbols and expressions.
class DimReads {
 public:
  DimReads();
  ~DimReads();
  DimReads(const DimReads&) = delete;

  // The innermost on this thread; null: nobody notes.
  static DimReads* current();
  void note(const DimExpr* expr) { noted_.push_back(expr); }
  const std::vector<const DimExpr*>& noted() const { return noted_; }
  // As if what was noted after the first `count` had not been: it is decided anew whenever the line is.
  void forget_after(size_t count) { noted_.resize(count); }

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
  std::vector<const DimExpr*> noted_;
};

}  // namespace thunder
