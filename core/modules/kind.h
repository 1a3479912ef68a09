// The kinds of modules: a row is declared once, in kinds/*.cpp, and every language has it.
#pragma once

#include <unordered_map>

#include "modules/module.h"

namespace thunder {

class ModuleInit;
class ModuleCall;
class ModuleKind;

// What a module of a lazy kind, LazyLinear, becomes at its first call: one of the kind `to`, whose option `size` is
// that of the input's dim axis(rank).
struct Becoming {
  const ModuleKind* to = nullptr;
  std::string_view size;
  size_t (*axis)(size_t rank) = nullptr;
};

// `schema` declares the options, and that the forward returns a tensor: "Linear(int in_features, ...) -> tensor". An
// option that is a tensor becomes a buffer of its name.
struct ModuleRow {
  SchemaText schema;
  std::string_view doc;
  // What the forward takes where that is not one tensor: "forward(tensor query, ...) -> (tensor, tensor)".
  std::string_view inputs = {};
  void (*init)(ModuleInit&) = nullptr;     // makes the first parameters and buffers; null: there are none
  void (*forward)(ModuleCall&) = nullptr;  // null: `op`, or the user gives one
  // The op that the forward is: each of its arguments is the input, the option or the tensor of that name, `training`
  // whether the module trains, and what the module has no name for is the op's default. An option `inplace` takes its
  // in-place form.
  std::string_view op = {};
};

using ModuleRows = std::span<const ModuleRow>;  // of a file
consteval ModuleRow layer(SchemaText schema, std::string_view doc, void (*forward)(ModuleCall&),
                          void (*init)(ModuleInit&) = nullptr, std::string_view inputs = {}) {
  return {schema, doc, inputs, init, forward};
}
consteval ModuleRow layer_of_op(SchemaText schema, std::string_view doc, std::string_view op,
                                void (*init)(ModuleInit&) = nullptr, std::string_view inputs = {}) {
  return {schema, doc, inputs, init, nullptr, op};
}

class ModuleKind {
 public:
  explicit ModuleKind(const ModuleRow& row)
      : schema_(parse_schema(row.schema.text)),
        doc_(row.doc),
        inputs_(parse_schema(row.inputs.empty() ? std::string(kOneTensor) : named(schema_.name, row.inputs))),
        op_(row.op),
        init(row.init),
        forward(row.forward || row.op.empty() ? row.forward : call_op) {}
  // A lazy kind, which has the options of the kind that it becomes except one.
  ModuleKind(std::string_view schema, std::string_view doc, const Becoming& becoming);
  std::string_view name() const { return schema_.name; }
  const Schema& schema() const { return schema_; }
  const std::string& doc() const { return doc_; }
  const Schema& inputs() const { return inputs_; }
  // The op that the forward calls; empty if it does more.
  const std::string& op() const { return op_; }
  const Becoming& becoming() const { return becoming_; }

 private:
  static constexpr std::string_view kOneTensor = "forward(tensor input) -> tensor";
  static void call_op(ModuleCall& call);
  // "forward(...)" called as the kind, as messages have it.
  static std::string named(std::string_view kind, std::string_view inputs) {
    return std::string(kind) + std::string(inputs.substr(inputs.find('(')));
  }
  Schema schema_;
  std::string doc_;
  Schema inputs_;
  std::string op_;
  Becoming becoming_;

 public:
  void (*const init)(ModuleInit&);
  void (*const forward)(ModuleCall&);
};

// All kinds of a context, by name.
class ModuleKinds {
 public:
  ModuleKinds();  // with every built-in kind

  const ModuleKind& add(const ModuleRow& row);
  const ModuleKind& add(std::unique_ptr<ModuleKind> kind);
  const ModuleKind* find(std::string_view name) const;
  // Throws not_found with the nearest name.
  const ModuleKind& get(std::string_view name) const;
  const std::vector<std::unique_ptr<ModuleKind>>& all() const { return kinds_; }

 private:
  std::vector<std::unique_ptr<ModuleKind>> kinds_;
};

// The lazy kinds, LazyLinear and its like, of the kinds that are there.
void register_lazy_kinds(ModuleKinds& kinds);

// The environment that modules are made in; the context that owns it outlives them.
struct ModuleEnvironment {
  ScopeEnvironment scope;
  const ModuleKinds* kinds = nullptr;
  // Tensors are made without values: to find out which tensors the options lead to.
  bool blank = false;
};

// `args` in the schema's order, or by `names` (null, or one or null for each). Initial values are drawn from the
// context's random state.
Ref<Module> make_module(const ModuleEnvironment& environment, std::string_view kind, std::span<const Any> args,
                        const char* const* names = nullptr);

// An argument of an op in a forward.
struct OpArg : Any {
  OpArg(Tensor* t) : Any(Any::tensor(t)) {}
  OpArg(double f) : Any(Any::real(f)) {}
  OpArg(int64_t i) : Any(Any::integer(i)) {}
  OpArg(int i) : Any(Any::integer(i)) {}
  OpArg(bool b) : Any(Any::boolean(b)) {}
  OpArg(std::string_view s) : Any(Any::string(s)) {}
  OpArg(const std::vector<int64_t>& d) : Any(Any::dims(d)) {}
  OpArg(DType d) {
    kind = ArgKind::dtype;
    dtype = d;
  }
  // An option as it was given; None where it is.
  OpArg(const Leaf& leaf);
};

// Makes a new module's tensors, of f32 on the CPU.
class ModuleInit {
 public:
  ModuleInit(Module& module, const ModuleEnvironment& environment) : module(module), environment_(environment) {}
  Module& module;

  // Adds a parameter drawn uniformly from [-bound, bound), or from a normal distribution around 0.
  void uniform(std::string_view name, const std::vector<int64_t>& shape, double bound);
  void normal(std::string_view name, const std::vector<int64_t>& shape, double deviation = 1);
  void fill(std::string_view name, const std::vector<int64_t>& shape, double value, Role role = Role::parameter,
            DType dtype = DType::f32);
  // Adds a child module of another kind.
  void child(std::string_view name, std::string_view kind, std::initializer_list<Any> args);
  // For the module at this path below.
  ModuleInit below(std::string_view path) const { return {*module.find(path), environment_}; }
  // Throws "KIND: ..." unless it holds.
  template <class... T>
  void require(bool holds, const T&... parts) const {
    if (!holds) [[unlikely]]
      fail(Code::invalid_argument, module.kind().name(), ": ", parts...);
  }

 private:
  void draw(std::string_view name, std::string_view op, const std::vector<int64_t>& shape, double scale, double shift);
  bool leave_blank(std::string_view name, const std::vector<int64_t>& shape, Role role, DType dtype);
  const ModuleEnvironment& environment_;
};

// A forward as a kind writes it. It ends at the first error: every member throws what went wrong in the scope, so that
// nothing is computed from a result that there is not. What a forward throws goes to the scope.
class ModuleCall {
 public:
  ModuleCall(Scope& scope, Module& module, const Values& in, Values& out)
      : scope(scope), module(module), in(in), out(out) {}
  Scope& scope;
  Module& module;
  const Values& in;
  Values& out;

  // The one tensor given. Throws when something else was.
  Tensor* input() const;
  // The module's tensor, guarded; null if there is none of this name, which is guarded too.
  Tensor* tensor(std::string_view name) const;
  bool training() const;
  // The result of a child module.
  const Values& call(Module& child, const Values& given) const;
  Tensor* op(std::string_view name, std::initializer_list<OpArg> args, Tensor** results = nullptr,
             size_t n_results = 0) const;
  // Calls an op with named arguments: `names` is null, or has a name or null for each argument.
  Tensor* op(std::string_view name, std::span<const Any> args, const char* const* names, Tensor** results = nullptr,
             size_t n_results = 0) const;
  void give(Tensor* result) const { out.push(Ref<Tensor>(result)); }

 private:
  void stop_at_error() const {
    if (scope.status()) [[unlikely]]
      throw Error(scope.status());
  }
};

}  // namespace thunder
