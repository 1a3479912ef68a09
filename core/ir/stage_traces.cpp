#include "ir/stage_traces.h"

namespace thunder {

const std::vector<Trace>& DeferredTraces::get() const {
  std::call_once(once_, [this] { made_ = make_(); });
  return made_;
}

std::vector<Trace> StageTraces::all() const {
  std::vector<Trace> out = before_ ? before_->get() : std::vector<Trace>();
  out.insert(out.end(), made_.begin(), made_.end());
  return out;
}

}  // namespace thunder
