// A trace as a function: checks what it captured and what it is called with, and replays the trace into the scope.
#include <algorithm>

#include "base/text.h"
#include "tracer/replay.h"

namespace thunder {
namespace {

class TraceFunction : public Function {
 public:
  TraceFunction(Trace trace, std::vector<Ref<Tensor>> captured)
      : Function(trace.function),
        trace_(std::move(trace)),
        captured_(std::move(captured)),
        random_(random_input(trace_)) {
    for (size_t i = 0; i < trace_.inputs.size(); i++) {
      const Input& input = trace_.inputs[i];
      if (input.source == Source::argument) leaves_ = std::max<size_t>(leaves_, input.index + 1);
      else if (random_ != i) check_captured(i);
    }
    require_bound_symbols(trace_);
  }

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    require(in.size() == leaves_, name(), ": the trace has ", leaves_, " arguments, ", in.size(), " were given");
    std::vector<Tensor*> inputs;
    for (size_t i = 0; i < trace_.inputs.size(); i++) inputs.push_back(tensor_of(scope, in, i));
    for (Tensor* t : replay(scope, trace_, inputs)) out.push(Ref<Tensor>(t));
    return {};
  }

 private:
  std::string place(size_t i) const {
    const Input& in = trace_.inputs[i];
    return cat("ipc"[static_cast<size_t>(in.source)], "[", in.index + 1, "]", in.name.empty() ? "" : " ", in.name);
  }
  void check_captured(size_t i) const {
    const Ref<Tensor>& t = captured_[i];
    const TensorType& type = trace_.type(trace_.inputs[i].value);
    require(t != nullptr, name(), ": no tensor is given for ", place(i), ", which is ", thunder::name(type));
    require(t->concrete() && t->type() == type, name(), ": ", place(i), " is ", thunder::name(type),
            ", the tensor given for it is ", thunder::name(t->type()));
  }

  Tensor* tensor_of(Scope& scope, const Values& in, size_t i) const {
    const Input& input = trace_.inputs[i];
    if (input.source == Source::argument) {
      Tensor* t = in.tensor(input.index);
      if (t->kind() == Tensor::Kind::failed) throw Error(t->failure());
      return t;
    }
    if (random_ == i) return nullptr;
    return input.source == Source::parameter ? scope.parameter(captured_[i].get(), input.name) : captured_[i].get();
  }

  const Trace trace_;
  const std::vector<Ref<Tensor>> captured_;
  const std::optional<size_t> random_;
  size_t leaves_ = 0;
};

}  // namespace

Ref<Function> function_of_trace(Trace trace, std::vector<Ref<Tensor>> captured) {
  return Ref<Function>::adopt(new TraceFunction(std::move(trace), std::move(captured)));
}

}  // namespace thunder
