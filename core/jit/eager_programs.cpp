#include "jit/eager_programs.h"

#include <algorithm>

#include "jit/compile.h"
#include "jit/eager_key.h"
#include "jit/run.h"
#include "ops/view_tags.h"

namespace thunder {
namespace {

constexpr size_t kMostPrograms = 512;  // the cache is then cleared
// Sizes that change from call to call, as those of a growing cache do, would be compiled each time.
constexpr int kMostShapes = 16;

// As EagerKey counts them: a tensor that is not given has a place, too.
SmallVector<Buffer, 8> buffers_of(const OpDef& op, std::span<const Arg> args, std::span<Tensor* const> tensors) {
  SmallVector<Buffer, 8> out;
  size_t next = 0;
  for (size_t i = 0; i < args.size(); i++)
    for (size_t k = inputs_of(args[i], op.schema.params[i]); k > 0; k--)
      out.push_back(args[i].kind == ArgKind::none ? Buffer{.rank = -1} : tensors[next++]->buffer());
  return out;
}

// The op, called with the tensors that the function is given, in their order.
class OneOp final : public Function {
 public:
  OneOp(const OpDef& op, const EagerKey& key) : Function(std::string(op.name())), op_(op), key_(key) {}
  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    const std::span<const Arg> given = key_.node().args;
    std::vector<Arg> args(given.begin(), given.end());
    std::vector<std::vector<ValueId>> lists(args.size());
    size_t next = 0;
    scope.formulas([&] {
      for (size_t i = 0; i < args.size(); i++) {
        if (args[i].kind == ArgKind::value) args[i].v = scope.enter(in[next++].tensor.get());
        if (args[i].kind != ArgKind::values) continue;
        for (size_t k = 0; k < given[i].value_list().size(); k++)
          lists[i].push_back(scope.enter(in[next++].tensor.get()));
        args[i] = Arg::values(lists[i]);
      }
      for (ValueId v : scope.builder().invoke(op_, args)) out.push(Ref<Tensor>(scope.wrap(v)));
    });
    return nullptr;
  }

 private:
  const OpDef& op_;
  const EagerKey& key_;
};

int prims_of(std::span<const Node* const> nodes) {
  int count = 0;
  for (const Node* n : nodes) {
    const OpDef& op = def(*n);
    if (op.prim) count += !op.view;
    else count += prims_of(n->body);
  }
  return count;
}

// Whether the op is pure, and more than the one kernel that it would be anyway.
bool is_worth_it(const Entry& entry, size_t inputs) {
  const Trace& trace = entry.traces[0];
  if (entry.bindings.size() != inputs || !trace.writes.empty() || prims_of(trace.nodes) < 2) return false;
  return std::all_of(entry.results.begin(), entry.results.end(),
                     [](const ResultLeaf& r) { return r.output != ResultLeaf::kConstant; });
}

}  // namespace

class EagerPrograms::Program {
 public:
  Program(Context& context, const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in)
      : key(op, args, in, {}),
        context_(context),
        function_(Ref<Function>::adopt(new OneOp(op, key))),
        runner_(context, *function_) {}

  const EagerKey key;
  bool compiled() const { return entry_ != nullptr; }

  void compile(std::span<Tensor* const> in) {
    const auto values = make<Values>();
    for (Tensor* t : in) values->push(Ref<Tensor>(t));
    const auto options = make<CompileOptions>();
    InterruptCheck check(context_.interrupts());
    try {
      std::unique_ptr<Entry> entry = record(context_, *function_, *values);
      if (!is_worth_it(*entry, in.size())) return;
      compile_recorded(context_, *options, *values, Effort::full, check, *entry);
      entry_ = std::move(entry);
    } catch (const Error& e) {
      if (e.code() == kCancelled) throw;  // of others the user is told when the op is taken apart
    }
  }

  void run(std::span<Tensor* const> in, std::vector<Ref<Tensor>>& out) {
    ResultTensors results;
    InterruptCheck check(context_.interrupts());
    Status* const failed = runner_.run(*entry_, {nullptr, in.data(), in.size()}, nullptr, results, check, nullptr);
    if (failed) throw Error(Ref<Status>::adopt(failed));
    for (const ResultLeaf& r : entry_->results) out.push_back(results.take(r.output));
  }

 private:
  Context& context_;
  const Ref<Function> function_;
  ProgramRunner runner_;
  std::unique_ptr<Entry> entry_;  // null: taken apart
};

EagerPrograms::EagerPrograms(Context& context) : context_(context) {}
EagerPrograms::~EagerPrograms() = default;

std::shared_ptr<EagerPrograms::Program> EagerPrograms::find(const OpDef& op, std::span<const Arg> args,
                                                            std::span<Tensor* const> in) {
  const SmallVector<Buffer, 8> buffers = buffers_of(op, args, in);
  const std::span<const Buffer> given(buffers.data(), buffers.size());
  const uint64_t hash = EagerKey::hash(op, args, given);
  const auto kept = [&]() -> std::shared_ptr<Program> {
    auto [it, end] = programs_.equal_range(hash);
    for (; it != end; ++it)
      if (it->second->key.matches(op, args, given)) return it->second;
    return nullptr;
  };
  bool compiles;
  {
    const std::shared_lock lock(mutex_);
    if (auto program = kept()) return program;
    const auto shapes = shapes_.find(&op);
    compiles = shapes == shapes_.end() || shapes->second < kMostShapes;
  }
  // Unlocked: executors and passes of the caller's run then, and may call ops themselves.
  auto made = std::make_shared<Program>(context_, op, args, given);
  if (compiles) made->compile(in);
  const std::unique_lock lock(mutex_);
  if (auto program = kept()) return program;  // another thread's
  if (programs_.size() >= kMostPrograms) programs_.clear();
  shapes_[&op] += made->compiled();
  programs_.emplace(hash, made);
  return made;
}

bool EagerPrograms::run(const OpDef& op, std::span<const Arg> args, std::span<Tensor* const> in,
                        std::vector<Ref<Tensor>>& out) {
  if (context_.stance() == Stance::force_eager) return false;
  const std::shared_ptr<Program> program = find(op, args, in);
  if (!program->compiled()) return false;
  program->run(in, out);
  return true;
}

void use_eager_programs(Context& context) { context.set_composites(std::make_unique<EagerPrograms>(context)); }

}  // namespace thunder
