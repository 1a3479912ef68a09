// Records which symbolic sizes were read as numbers while tracing: the trace then holds for these numbers alone.
#pragma once

#include <string>
#include <vector>

#include "ir/dim.h"

namespace thunder {

// A comparison of symbolic sizes that was decided while tracing, and whether it was true.
struct DimCondition {
  enum class Is : uint8_t { equal, less, at_most };
  Dim a, b;
  Is is;
  bool holds;  // when it was decided

  // Whether these values of the symbols lead to the same decisions.
  bool holds_for(const std::vector<int64_t>& symbols) const;
  std::string formula() const;
};

// What a comparison of two numbers gives.
bool is_so(int64_t a, DimCondition::Is is, int64_t b);

// Compares the values seen while tracing. If a side is symbolic, the result is noted as a condition.
bool compare(Dim a, DimCondition::Is is, Dim b);
// The same inside of an op, whose line is decided again for other sizes: a condition only where lines are kept
// (DimReads::Of::lines), else both sides are read.
bool decide(Dim a, DimCondition::Is is, Dim b);
inline bool is_at_most(Dim a, Dim b) { return decide(a, DimCondition::Is::at_most, b); }
inline bool is_less(Dim a, Dim b) { return decide(a, DimCondition::Is::less, b); }
inline bool is_equal(Dim a, Dim b) { return decide(a, DimCondition::Is::equal, b); }
// For code that works on numbers, too.
inline bool is_less(int64_t a, int64_t b) { return a < b; }
inline bool is_equal(int64_t a, int64_t b) { return a == b; }

// The value that was seen while tracing; the read is not recorded.
int64_t unnoted_hint(Dim d);

// While it lives, `hint` records on this thread which symbols and expressions it is asked for.
class DimReads {
 public:
  // What is noted.
  enum class Of : uint8_t {
    function,  // what a function looks at; what its lines look at is forgotten: each is made again for other sizes
    numbers,   // the same, and a comparison counts as reading both sides, and is no condition
    lines,     // what lines and passes look at, too: they are kept, with other sizes in the place of the symbols
  };
  explicit DimReads(Of of = Of::function);
  ~DimReads();
  DimReads(const DimReads&) = delete;

  // The innermost object on this thread, or null.
  static DimReads* current();
  void note(const DimExpr* expr) { noted_.push_back(expr); }
  const std::vector<const DimExpr*>& noted() const { return noted_; }
  void note(const DimCondition& condition);
  const std::vector<DimCondition>& conditions() const { return conditions_; }
  // Forgets the reads after the first `count`: they are decided again whenever the line is.
  void forget_after(size_t count) {
    if (of_ != Of::lines) noted_.resize(count);
  }
  bool keeps_lines() const { return of_ == Of::lines; }

  // Reads that are recorded while it lives are forgotten at its end.
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

  // While it lives, no reads are recorded.
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
  const Of of_;
  std::vector<const DimExpr*> noted_;
  std::vector<DimCondition> conditions_;
};

}  // namespace thunder
