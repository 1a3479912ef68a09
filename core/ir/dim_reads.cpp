#include "ir/dim_reads.h"

#include <algorithm>
#include <utility>

namespace thunder {
namespace {

thread_local DimReads* reads = nullptr;

bool decide(int64_t a, DimCondition::Is is, int64_t b) {
  return is == DimCondition::Is::equal ? a == b : is == DimCondition::Is::less ? a < b : a <= b;
}

}  // namespace

bool DimCondition::holds_for(const std::vector<int64_t>& symbols) const {
  return decide(Dims::evaluate(a, symbols), is, Dims::evaluate(b, symbols)) == holds;
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
    holds = decide(hint(a), is, hint(b));
  }
  if (DimReads* notes = DimReads::current(); notes && !(a.constant() && b.constant())) notes->note({a, b, is, holds});
  return holds;
}

void DimReads::note(const DimCondition& condition) {
  if (as_numbers_) {
    for (Dim d : {condition.a, condition.b})
      if (!d.constant()) note(d.expr());
    return;
  }
  const auto same = [&](const DimCondition& c) {
    return c.a == condition.a && c.b == condition.b && c.is == condition.is;
  };
  if (std::none_of(conditions_.begin(), conditions_.end(), same)) conditions_.push_back(condition);
}

DimReads::DimReads(bool as_numbers) : outer_(std::exchange(reads, this)), as_numbers_(as_numbers) {}
DimReads::~DimReads() { reads = outer_; }
DimReads* DimReads::current() { return reads; }

int64_t unnoted_hint(Dim d) {
  const DimReads::Pause over;
  return hint(d);
}

DimReads::Pause::Pause() : paused_(std::exchange(reads, nullptr)) {}
DimReads::Pause::~Pause() { reads = paused_; }

}  // namespace thunder
