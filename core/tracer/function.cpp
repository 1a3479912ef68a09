#include "tracer/function.h"

#include "base/nesting.h"
#include "base/text.h"

namespace thunder {

Values* apply(Scope& scope, Function& f, const Values& in) {
  const Ref<Function> kept(&f);  // it may release its own last handle
  auto out = make<Values>();
  if (!scope.status()) {
    const Nesting inside(f.name());
    try {
      if (auto failed = f.call(scope, in, *out)) scope.fail(failed);
    } catch (const Error& e) {
      scope.fail(e.status());
    }
    if (out->status()) scope.fail(out->status());
    if (!out->complete()) scope.fail(Code::invalid_argument, cat(f.name(), ": a group of its results was not closed"));
  }
  return scope.own(std::move(out));
}

namespace {

class ValueAndGrad : public Function {
 public:
  ValueAndGrad(Ref<Function> f, std::string wrt, Ref<Values> captured)
      : Function(cat("value_and_grad(", f->name(), ")")),
        f_(std::move(f)),
        wrt_(std::move(wrt)),
        captured_(std::move(captured)) {}

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    Values* results = apply(scope, *f_, in);
    if (scope.status()) return {};
    if (results->size() == 0 || !(*results)[0].tensor)
      return make<Status>(Code::invalid_argument,
                          cat(name(), ": the function's first result must be the loss, a 0-d tensor"));
    Values inputs;
    if (Ref<Status> wrong = select(in, inputs)) return wrong;
    Tensor* loss = (*results)[0].tensor.get();
    Values* input_grads = inputs.size() || !captured_ ? scope.grad(loss, inputs) : nullptr;
    Values* captured_grads = captured_ ? scope.grad(loss, *captured_) : nullptr;
    if (scope.status()) return {};
    for (size_t i = 0; i < results->size(); i++) out.push((*results)[i].tensor);
    if (input_grads)
      for (size_t i = 0; i < input_grads->size(); i++) out.push((*input_grads)[i].tensor);
    if (captured_grads) push_map(*captured_grads, out);
    return {};
  }

 private:
  Ref<Status> select(const Values& in, Values& inputs) const {
    if (wrt_.empty()) {
      for (size_t i = 0; i < in.size() && !captured_; i++)
        if (in[i].tensor && is_real(in[i].tensor->type().dtype)) inputs.push(in[i].tensor);
      return {};
    }
    for (size_t from = 0; from <= wrt_.size();) {
      const size_t to = std::min(wrt_.find(',', from), wrt_.size());
      const std::string path = wrt_.substr(from, to - from);
      const size_t leaf = in.find(path);
      if (leaf == SIZE_MAX || !in[leaf].tensor) {
        auto paths = in.paths();
        return make<Status>(Code::invalid_argument, cat(name(), ": no tensor among the inputs has the path '", path,
                                                        "'; there are ", join(paths, ", ", [](auto& p) { return p; })));
      }
      inputs.push(in[leaf].tensor);
      from = to + 1;
    }
    return {};
  }

  // Gradients of a map of parameters come back under the same names.
  static void push_map(const Values& grads, Values& out) {
    auto paths = grads.paths();
    const bool map = !grads.structure().empty() && grads.structure()[0] == '{';
    out.open(map, {});
    for (size_t i = 0; i < grads.size(); i++) {
      if (map) out.key(std::string_view(paths[i]).substr(paths[i].find('.') + 1));
      out.push(grads[i].tensor);
    }
    out.close();
  }

  Ref<Function> f_;
  std::string wrt_;
  Ref<Values> captured_;
};

}  // namespace

Ref<Function> value_and_grad(Ref<Function> f, std::string wrt, Ref<Values> captured) {
  return Ref<Function>::adopt(new ValueAndGrad(std::move(f), std::move(wrt), std::move(captured)));
}

}  // namespace thunder
