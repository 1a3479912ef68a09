#include "jit/backward/split.h"

#include <algorithm>

#include "base/text.h"
#include "tracer/replay.h"

namespace thunder {
namespace {

std::vector<size_t> locate_saved_values(const Split::Parts& parts) {
  const Trace& forward = parts.partition.forward;
  std::vector<size_t> out;
  for (ValueId v : parts.partition.saved) {
    const auto in = std::find_if(forward.inputs.begin(), forward.inputs.end(), [v](auto& i) { return i.value == v; });
    const auto place = static_cast<size_t>(in - forward.inputs.begin());
    if (in == forward.inputs.end())
      out.push_back(place + static_cast<size_t>(std::find(forward.outputs.begin(), forward.outputs.end(), v) -
                                                forward.outputs.begin()));
    else
      out.push_back(place);
  }
  return out;
}

}  // namespace

Split::Split(CompileSetup setup, std::shared_ptr<LatestBackward> latest, Parts parts)
    : setup_(std::move(setup)),
      latest_(std::move(latest)),
      parts_(std::move(parts)),
      saved_(locate_saved_values(parts_)) {}

const Split::Backward& Split::backward(const std::vector<bool>& reached, const std::vector<bool>& wanted) {
  const std::lock_guard lock(mutex_);
  auto [it, fresh] = backwards_.try_emplace({reached, wanted});
  Backward& out = it->second;
  if (fresh) {
    const Partition& p = parts_.partition;
    std::vector<bool> outputs;
    for (size_t gradient : p.gradients) outputs.push_back(wanted[parts_.wrt[gradient]]);
    PartialBackward part = partial_backward(setup_.context->registry(), p.backward, reached, outputs);
    out.saved = part.saved;
    for (size_t i : part.outputs) out.wrt.push_back(parts_.wrt[p.gradients[i]]);
    const size_t inputs = part.trace.inputs.size();
    out.function =
        make<TapedFunction>(setup_, function_of_trace(std::move(part.trace), std::vector<Ref<Tensor>>(inputs)));
  }
  const std::lock_guard report(latest_->mutex);
  latest_->function = out.function;
  return out;
}

Ref<TapedFunction> Split::taped_forward() {
  const std::lock_guard lock(mutex_);
  if (whole_) return whole_;
  Trace trace = parts_.partition.forward;
  if (random_input(trace))
    fail(Code::unimplemented, trace.function,
         ": a gradient of its gradient is asked for on a tape, and it draws random numbers: take both inside of one "
         "compiled function, or call it uncompiled");
  for (size_t i = 0; i < trace.inputs.size(); i++)
    trace.inputs[i].source = Source::argument, trace.inputs[i].index = static_cast<uint32_t>(i);
  const size_t inputs = trace.inputs.size();
  return whole_ = make<TapedFunction>(setup_, function_of_trace(std::move(trace), std::vector<Ref<Tensor>>(inputs)));
}

}  // namespace thunder
