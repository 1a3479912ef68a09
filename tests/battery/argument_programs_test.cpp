// Random programs of ops with arguments of all kinds, other functions' tensors among them: each works, and gives the same bits
// compiled, or is refused by the name of an op of it.
#include "ops/widened.h"
#include "base/text.h"
#include "battery/battery.h"
#include "battery/other_kinds.h"
#include "ops/kernels.h"
#include "support/generator.h"
#include "tracer/eager.h"
#include "tracer/tracing.h"

namespace thunder::battery {
namespace {

using tests::below;
using tests::one_in;

// Runs ops eagerly by the kernels that the host executor runs in programs, so that both give the same bits.
class ReferenceRunner : public OpRunner {
 public:
  explicit ReferenceRunner(ThreadPool& threads) : threads_(threads) {}
  Status* run(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in, std::span<const Buffer> out) override {
    return run_reference(op, {in, out, args, &op, &threads_});
  }

 private:
  ThreadPool& threads_;
};

// An argument: a literal of the sample, a value that is there by then, or a tensor that belongs to something else.
struct Given {
  SampleArg literal;
  std::vector<size_t> inputs;  // of a literal with tensors: which of the program's inputs stand for them
  size_t value = kLiteral;     // modulo the number of values that there are
  const Ref<Tensor>* foreign = nullptr;
  static constexpr size_t kLiteral = SIZE_MAX;
};

struct Line {
  const OpDef* op;
  std::vector<Given> args;
};

struct Program {
  std::vector<Line> lines;
  Tensors inputs;
};

// A view may have more elements than anybody can read.
bool readable(const TensorType& type) {
  double elements = 1;
  for (Dim d : type.shape) elements *= static_cast<double>(hint(d));
  return elements < 1 << 22;
}

// Runs the lines; the results of all of them, up to the first that fails. `at` is the line that was tried last.
std::vector<Tensor*> run(const Program& p, Scope& scope, std::span<Tensor* const> inputs, size_t& at) {
  std::vector<Tensor*> values(inputs.begin(), inputs.end()), made;
  for (at = 0; at < p.lines.size(); at++) {
    std::vector<Any> args;
    std::vector<std::vector<Tensor*>> lists;
    lists.reserve(p.lines[at].args.size());
    for (const Given& g : p.lines[at].args) {
      Any a;
      const auto& literal = g.literal.value;
      if (g.foreign) a = Any::tensor(g.foreign->get());
      else if (g.value != Given::kLiteral && !values.empty()) a = Any::tensor(values[g.value % values.size()]);
      else if (std::holds_alternative<TensorSpec>(literal)) a = Any::tensor(inputs[g.inputs[0]]);
      else if (std::holds_alternative<std::vector<TensorSpec>>(literal)) {
        auto& list = lists.emplace_back();
        for (size_t i : g.inputs) list.push_back(inputs[i]);
        a.kind = ArgKind::values, a.count = static_cast<uint32_t>(list.size()), a.ts = list.data();
      } else a = plain(g.literal);
      args.push_back(a);
    }
    const Values* results = scope.invoke_all(p.lines[at].op->name(), args, nullptr, nullptr);
    if (scope.status()) break;
    for (size_t i = 0; i < results->size(); i++)
      if (Tensor* t = (*results)[i].tensor.get(); readable(t->type())) values.push_back(t), made.push_back(t);
  }
  return made;
}

struct ArgumentPrograms : Battery {
  std::vector<Case> cases;  // every sample of every op that users call
  const std::vector<OtherKind> others = other_kinds();
  TracingScope other_function{context->scope_environment(), "other"};
  std::vector<Ref<Tensor>> foreign;
  ReferenceRunner runner{context->threads()};

  ArgumentPrograms() {
    for (auto& op : context->registry().all()) {
      if (op->has(kHidden)) continue;
      for (Case& c : cases_of(*op)) cases.push_back(std::move(c));
    }
    const Ref<Tensor> x = tensor_of({2, 3}, DType::f32, {1, 2, 3, 4, 5, 6});
    foreign.emplace_back(other_function.argument_proxy(x->type(), "x", x));
    {
      TracingScope ended(context->scope_environment(), "ended");
      foreign.emplace_back(ended.argument_proxy(x->type(), "x", x));
      ended.reset();
    }
    foreign.push_back(Tensor::failed(make<Status>(Code::invalid_argument, "it failed before")));
    foreign.push_back(Tensor::number(Arg::real(2.5)));
  }

  Given literal(Program& p, const SampleArg& arg, std::mt19937_64& random) {
    Given g;
    g.literal = arg;
    const auto add = [&](const TensorSpec& spec) {
      Case one{nullptr, {{spec}}, "", ""};
      g.inputs.push_back(p.inputs.size());
      p.inputs.push_back(make_tensors(one, one_in(random, 4) ? Layout::transposed : Layout::dense)[0]);
    };
    if (auto* spec = std::get_if<TensorSpec>(&arg.value)) add(*spec);
    if (auto* list = std::get_if<std::vector<TensorSpec>>(&arg.value))
      for (const TensorSpec& spec : *list) add(spec);
    return g;
  }

  Given argument(Program& p, const SampleArg& sample, std::mt19937_64& random) {
    if (one_in(random, 12)) {
      const OtherKind& other = others[below(random, others.size())];
      // A size of millions is no mistake, only slow.
      return literal(p, std::string_view(other.name) == "huge number" ? SampleArg(300) : other.arg, random);
    }
    if (one_in(random, 40)) {
      Given g;
      g.foreign = &foreign[below(random, foreign.size())];
      return g;
    }
    Given g = literal(p, sample, random);
    if (std::holds_alternative<TensorSpec>(sample.value) && one_in(random, 3)) g.value = below(random, 1000);
    return g;
  }

  Program program(std::mt19937_64& random) {
    Program p;
    const size_t lines = 1 + below(random, 6);
    while (p.lines.size() < lines) {
      const Case& c = cases[below(random, cases.size())];
      Line line{c.op, {}};
      for (const SampleArg& a : c.sample.args) line.args.push_back(argument(p, a, random));
      p.lines.push_back(std::move(line));
    }
    return p;
  }

  // What is wrong with a failure of line `at`; behind the last line: of data, when the program ran, which names the prim.
  static std::string mistake(const Program& p, size_t at, const Outcome& failed) {
    if (failed.code == Code::out_of_memory) return "";
    if (failed.code == Code::internal) return "an internal error: " + failed.error;
    if (failed.error.find("it failed before") != failed.error.npos) return "";  // that tensor's own
    const std::string_view named = at < p.lines.size() ? p.lines[at].op->name() : "[run by executor 'host']";
    return failed.error.find(named) == failed.error.npos ? cat("does not name ", named, ": ", failed.error) : "";
  }
};

TEST_F(ArgumentPrograms, work_alike_in_every_way_or_are_refused_by_name) {
  CompileOptions options;
  options.set("executors", Any::string("host"));
  options.set("disable_passes", Any::string(join(optional_passes(), ",", [](auto& name) { return name; })));
  size_t worked = 0, refused = 0;
  tests::for_each_seed(10000, [&](std::mt19937_64& random) {
    const Program p = program(random);
    size_t at = 0;
    std::vector<Tensor*> inputs;
    for (auto& t : p.inputs) inputs.push_back(t.get());
    reset_random(*context);
    Outcome eager;
    {
      ScopeEnvironment environment = context->scope_environment();
      environment.runner = &runner;
      EagerScope scope(environment, one_in(random, 2));
      for (Tensor* t : run(p, scope, inputs, at)) eager.types.push_back(t->type()), eager.values.push_back(numbers_of(*t));
      if (scope.status()) eager = {{}, {}, scope.status()->code(), scope.status()->message()};
    }
    tally()["programs of arguments"]++;
    ++(eager.error.empty() ? worked : refused);
    EXPECT_EQ(eager.error.empty() ? "" : mistake(p, at, eager), "");
    size_t compiled_at = 0;
    const Body body = [&](Scope& s, std::span<Tensor* const> in) { return run(p, s, in, compiled_at); };
    const Outcome compiled = call_compiled(*context, body, p.inputs, eager.types.size(), options);
    if (eager.code == Code::out_of_memory || compiled.code == Code::out_of_memory) return;
    if (compiled_at < p.lines.size() && needs_values({p.lines[compiled_at].op, {}, "", ""}, compiled)) return;
    EXPECT_EQ(compiled.error.empty() ? "" : mistake(p, compiled_at, compiled), "");
    EXPECT_EQ(difference(compiled, eager, 0), "") << "line " << at << " of " << p.lines.size() << ": " << eager.error << "\n" << compiled.error;
  });
  RecordProperty("worked", static_cast<int>(worked));
  RecordProperty("refused", static_cast<int>(refused));
}

}  // namespace
}  // namespace thunder::battery
