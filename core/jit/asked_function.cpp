#include "jit/asked_function.h"

#include "base/text.h"
#include "jit/saved/saved_function.h"
#include "onnx/program.h"

namespace thunder {
namespace {

class AskedFunction final : public Function {
 public:
  AskedFunction(std::string name, Ref<Function> inner, Ref<Context> context, SharpEdges edges)
      : Function(std::move(name)), inner_(std::move(inner)), context_(std::move(context)), edges_(edges) {}

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    if (edges_ == SharpEdges::allow || !scope.tracing()) return inner_->call(scope, in, out);
    std::vector<SharpEdge> found;
    const Collecting here(scope, &found);
    if (auto failed = inner_->call(scope, in, out)) return failed;
    if (found.empty()) return {};
    if (edges_ == SharpEdges::error)
      return make<Status>(Code::failed_precondition,
                          cat(name(), ": sharp_edges: ", found[0].text, format_location(found[0]),
                              "; give it as an argument, or take it out of the function"));
    for (const SharpEdge& edge : found)
      context_->log(LogLevel::warning, LogName::sharp_edges, name(), edge.where, edge.text);
    return {};
  }

 private:
  // Functions that are compiled apart, and called in this one, collect their own.
  struct Collecting {
    Collecting(Scope& s, std::vector<SharpEdge>* into) : scope(s), before(std::exchange(s.edges, into)) {}
    ~Collecting() { scope.edges = before; }
    Collecting(const Collecting&) = delete;
    Scope& scope;
    std::vector<SharpEdge>* const before;
  };
  static std::string format_location(const SharpEdge& edge) {
    return edge.where.empty() ? "" : cat(" [at ", edge.where, "]");
  }

  const Ref<Function> inner_;
  const Ref<Context> context_;
  const SharpEdges edges_;
};

// Whether the function comes from a file: it has no code of the host's, and a name of its own.
bool is_loaded_from_file(const Function& f) {
  return dynamic_cast<const SavedFunction*>(&f) || dynamic_cast<const onnx::Program*>(&f);
}

}  // namespace

Ref<Function> wrap_with_settings(Ref<Function> function, Ref<Context> context, const CompileSettings& settings) {
  const std::string& name = settings.name.empty() ? function->name() : settings.name;
  const bool renamed = name != function->name();
  if (is_loaded_from_file(*function)) {
    require(!renamed, "compile: option 'name' = \"", name, "\": what a file holds is called '", function->name(),
            "'; the option is for the function that is saved");
    return function;
  }
  if (!renamed && settings.sharp_edges == SharpEdges::allow) return function;
  return Ref<Function>::adopt(
      new AskedFunction(name, std::move(function), std::move(context), settings.sharp_edges));
}

}  // namespace thunder
