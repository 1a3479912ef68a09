#include "ir/dim_reads.h"

#include <algorithm>
#include <utility>

#include "ir/normal.h"

namespace thunder {
namespace {

thread_local DimReads* reads = nullptr;

}  // namespace

bool is_so(int64_t a, DimCondition::Is is, int64_t b) {
  return is == DimCondition::Is::equal ? a == b : is == DimCondition::Is::less ? a < b : a <= b;
}

bool DimCondition::holds_for(const std::vector<int64_t>& symbols) const {
  return is_so(Dims::evaluate(a, symbols), is, Dims::evaluate(b, symbols)) == holds;
}

// The symbolic side comes before the number that it is compared with.
std::string DimCondition::formula() const {
  constexpr std::string_view signs[][2] = {{" != ", " == "}, {" >= ", " < "}, {" > ", " <= "}},
                             turned[][2] = {{" != ", " == "}, {" <= ", " > "}, {" < ", " >= "}};
  const bool turns = a.constant() && !b.constant();
  return cat(name(turns ? b : a), (turns ? turned : signs)[static_cast<size_t>(is)][holds], name(turns ? a : b));
}

bool compare(Dim a, DimCondition::Is is, Dim b) {
  bool holds;
  {
    const DimReads::Pause as_condition;
    holds = is_so(hint(a), is, hint(b));
  }
  // What is so whatever the symbols are is no condition.
  if (DimReads* notes = DimReads::current(); notes && !difference(a, b)) notes->note({a, b, is, holds});
  return holds;
}

bool decide(Dim a, DimCondition::Is is, Dim b) {
  const DimReads* notes = DimReads::current();
  return notes && notes->keeps_lines() ? compare(a, is, b) : is_so(hint(a), is, hint(b));
}

void DimReads::note(const DimCondition& condition) {
  if (of_ == Of::numbers) {
    for (Dim d : {condition.a, condition.b})
      if (!d.constant()) note(d.expr());
    return;
  }
  const auto same = [&](const DimCondition& c) {
    return c.a == condition.a && c.b == condition.b && c.is == condition.is;
  };
  if (std::none_of(conditions_.begin(), conditions_.end(), same)) conditions_.push_back(condition);
}

DimReads::DimReads(Of of) : outer_(std::exchange(reads, this)), of_(of) {}
DimReads::~DimReads() { reads = outer_; }
DimReads* DimReads::current() { return reads; }

int64_t unnoted_hint(Dim d) {
  const DimReads::Pause over;
  return hint(d);
}

DimReads::Pause::Pause() : paused_(std::exchange(reads, nullptr)) {}
DimReads::Pause::~Pause() { reads = paused_; }

}  // namespace thunder
