#include "program/joined_steps.h"

#include <algorithm>

#include "tensor/tensor.h"

namespace thunder {
namespace {

// The greatest number of unrelated steps after the last one before the search ends.
constexpr size_t kMostBetween = 32;

// Bytes of a call's tensor, of a result or of an arena.
struct Range {
  Place place;
  uint32_t index;
  int64_t begin, end;
  bool overlaps(const Range& o) const {
    return place == o.place && index == o.index && begin < o.end && o.begin < end;
  }
};

struct Accesses {
  std::vector<Range> reads, writes;
};

class Joining {
 public:
  Joining(const Plan& plan, std::span<const Joinable> joinable) : plan_(plan), joinable_(joinable) {}

  std::vector<JoinedSteps> run() {
    for (size_t i = plan_.constant_steps; i < plan_.steps.size(); i++) {
      const Accesses accesses = accesses_of(plan_.steps[i]);
      std::erase_if(open_, [&](Candidate& c) { return must_close(c, i, accesses) && (keep_if_large_enough(c), true); });
      if (!joinable_[i].kind.empty()) add_to_candidate(i, accesses);
    }
    for (Candidate& c : open_) keep_if_large_enough(c);
    std::sort(joined_.begin(), joined_.end(), [](auto& a, auto& b) { return a.back() < b.back(); });
    return std::move(joined_);
  }

 private:
  struct Candidate {
    Joinable of;
    JoinedSteps steps;
    Accesses accesses;  // of all of them
  };

  Range range_of(const BufferPlan& b) const {
    const auto rank = static_cast<size_t>(b.rank);
    const std::span<const int64_t> layout(plan_.layouts.data() + b.layout, 2 * rank);
    const Extent bytes = extent(layout.first(rank), layout.last(rank), size_of(b.dtype));
    return {b.place, b.index, b.offset + bytes.begin, b.offset + bytes.end};
  }

  void add_accesses(const Step& step, Accesses& to) const {
    for (uint32_t b = 0; b < step.n_inputs + step.n_outputs; b++)
      if (const BufferPlan& buffer = plan_.buffers[step.first + b]; buffer.rank >= 0)
        (b < step.n_inputs ? to.reads : to.writes).push_back(range_of(buffer));
    if (step.scratch >= 0)  // which may lie where values lay whose last reader is one of the steps that move
      to.writes.push_back(
          {Place::arena, step.arena, step.scratch, step.scratch + static_cast<int64_t>(step.scratch_bytes)});
  }
  Accesses accesses_of(const Step& step) const {
    Accesses out;
    add_accesses(step, out);
    if (step.epilogue >= 0) add_accesses(plan_.epilogues[static_cast<size_t>(step.epilogue)], out);
    return out;
  }

  // Whether one step writes memory that the other reads or writes.
  static bool conflict(const Accesses& a, const Accesses& b) {
    const auto any = [](const std::vector<Range>& all, const std::vector<Range>& others) {
      return std::any_of(all.begin(), all.end(), [&](const Range& one) {
        return std::any_of(others.begin(), others.end(), [&](const Range& o) { return one.overlaps(o); });
      });
    };
    return any(a.writes, b.reads) || any(a.writes, b.writes) || any(a.reads, b.writes);
  }

  static bool must_close(const Candidate& c, size_t step, const Accesses& accesses) {
    return c.steps.size() == c.of.most || step - c.steps.back() > kMostBetween || conflict(c.accesses, accesses);
  }

  void add_to_candidate(size_t step, const Accesses& accesses) {
    const Joinable& of = joinable_[step];
    auto found = std::find_if(open_.begin(), open_.end(), [&](const Candidate& c) { return c.of.kind == of.kind; });
    if (found == open_.end()) found = open_.insert(found, {of, {}, {}});
    found->steps.push_back(step);
    const auto append = [](std::vector<Range>& to, const std::vector<Range>& more) {
      to.insert(to.end(), more.begin(), more.end());
    };
    append(found->accesses.reads, accesses.reads), append(found->accesses.writes, accesses.writes);
  }

  void keep_if_large_enough(Candidate& c) {
    if (c.steps.size() >= c.of.least) joined_.push_back(std::move(c.steps));
  }

  const Plan& plan_;
  const std::span<const Joinable> joinable_;
  std::vector<Candidate> open_;
  std::vector<JoinedSteps> joined_;
};

}  // namespace

std::vector<JoinedSteps> joined_steps(const Plan& plan, std::span<const Joinable> joinable) {
  const auto alone = [](const Joinable& one) { return one.kind.empty(); };
  if (std::all_of(joinable.begin(), joinable.end(), alone)) return {};
  return Joining(plan, joinable).run();
}

}  // namespace thunder
