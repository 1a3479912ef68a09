#include "jit/eager/programs.h"

#include <algorithm>
#include <optional>

#include "base/hash.h"
#include "jit/compile/compile.h"
#include "jit/eager/functions.h"
#include "jit/eager/prims/key.h"
#include "jit/run/run.h"

namespace thunder {
namespace {

constexpr size_t kMostPrograms = 512;  // the cache is then cleared
// Sizes that change from call to call, as those of a growing cache do, would be compiled each time.
constexpr int kMostShapes = 16;

// Counted as EagerKey does: an absent tensor has a place, too.
SmallVector<Buffer, 8> buffers_of(const OpDef& op, std::span<const Arg> args, std::span<Tensor* const> tensors) {
  SmallVector<Buffer, 8> out;
  size_t next = 0;
  for (size_t i = 0; i < args.size(); i++)
    for (size_t k = inputs_of(args[i], op.schema.params[i]); k > 0; k--)
      out.push_back(args[i].kind == ArgKind::none ? Buffer{.rank = -1} : tensors[next++]->buffer());
  return out;
}

int prims_of(std::span<const Node* const> nodes) {
  int count = 0;
  for (const Node* n : nodes) {
    const OpDef& op = def(*n);
    if (op.prim) count += !op.view;
    else count += prims_of(n->body);
  }
  return count;
}

// Whether it is pure, and more than the one kernel that it would be anyway.
bool is_worth_it(const Entry& entry) {
  const Trace& trace = entry.traces.front();
  if (entry.leaves != entry.bindings.size() || !trace.writes.empty() || prims_of(trace.nodes) < 2) return false;
  return std::all_of(entry.results.begin(), entry.results.end(),
                     [](const ResultLeaf& r) { return r.output != ResultLeaf::kConstant; });
}

}  // namespace

class EagerPrograms::Program {
 public:
  // `more`: what tells calls apart besides the op, its arguments and their types.
  Program(Context& context, const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in,
          std::vector<int64_t> more)
      : key(op, args, in, {}), more(std::move(more)), context_(context) {}

  const EagerKey key;
  const std::vector<int64_t> more;
  std::vector<GradientPlace> places;  // of gradients
  bool compiled() const { return entry_ != nullptr; }

  void prepare(Ref<Function> function, std::span<Tensor* const> in) {
    function_ = std::move(function);
    runner_.emplace(context_, *function_);
    const auto values = make<Values>();
    for (Tensor* t : in) values->push(Ref<Tensor>(t));
    const CompileSetup setup{Ref<Context>(&context_), make<CompileOptions>()};
    InterruptCheck check(context_.interrupts());
    try {
      const RecordEntry recording = [&] {
        std::unique_ptr<Entry> entry = record(context_, *function_, *values);
        return is_worth_it(*entry) ? std::move(entry) : nullptr;
      };
      entry_ = compile({setup, *values, check, recording});
    } catch (const Error& e) {
      if (e.code() == kCancelled) throw;  // of others the user is told when the op is taken apart
    }
  }

  void run(std::span<Tensor* const> in, std::vector<Ref<Tensor>>& out) {
    ResultTensors results;
    InterruptCheck check(context_.interrupts());
    Status* const failed = runner_->run(*entry_, {nullptr, in.data(), in.size()}, nullptr, results, check, nullptr);
    if (failed) throw Error(Ref<Status>::adopt(failed));
    for (const ResultLeaf& r : entry_->results) out.push_back(results.take(r.output));
  }

 private:
  Context& context_;
  Ref<Function> function_;
  std::optional<ProgramRunner> runner_;
  std::unique_ptr<Entry> entry_;  // null: taken apart
};

EagerPrograms::EagerPrograms(Context& context) : context_(context) {}
EagerPrograms::~EagerPrograms() = default;

template <class Compile>
std::shared_ptr<EagerPrograms::Program> EagerPrograms::find(const OpDef& op, std::span<const Arg> args,
                                                            std::span<Tensor* const> in, std::vector<int64_t> more,
                                                            Compile compile) {
  const SmallVector<Buffer, 8> buffers = buffers_of(op, args, in);
  const std::span<const Buffer> given(buffers.data(), buffers.size());
  uint64_t hash = EagerKey::hash(op, args, given);
  for (const int64_t n : more) hash = mix(hash, static_cast<uint64_t>(n));
  const auto kept = [&]() -> std::shared_ptr<Program> {
    auto [it, end] = programs_.equal_range(hash);
    for (; it != end; ++it)
      if (it->second->more == more && it->second->key.matches(op, args, given)) return it->second;
    return nullptr;
  };
  const std::pair kind(&op, !more.empty());
  bool compiles;
  {
    const std::shared_lock lock(mutex_);
    if (auto program = kept()) return program;
    const auto shapes = shapes_.find(kind);
    compiles = shapes == shapes_.end() || shapes->second < kMostShapes;
  }
  // Unlocked: executors and passes of the caller's run then, and may call ops themselves.
  auto made = std::make_shared<Program>(context_, op, args, given, more);
  if (compiles) compile(*made);
  const std::unique_lock lock(mutex_);
  if (auto program = kept()) return program;  // another thread's
  if (programs_.size() >= kMostPrograms) programs_.clear();
  shapes_[kind] += made->compiled();
  programs_.emplace(hash, made);
  return made;
}

bool EagerPrograms::run(const OpDef& op, std::span<const Arg> args, std::span<Tensor* const> in,
                        std::vector<Ref<Tensor>>& out) {
  if (context_.stance() == Stance::force_eager) return false;
  const std::shared_ptr<Program> program =
      find(op, args, in, {}, [&](Program& made) { made.prepare(function_of_op(op, made.key), in); });
  if (!program->compiled()) return false;
  program->run(in, out);
  return true;
}

bool EagerPrograms::gradient(const OpDef& op, std::span<const Arg> args, std::span<Tensor* const> in,
                             std::span<Tensor* const> results, std::span<Tensor* const> cotangents,
                             const std::vector<bool>& wanted, std::vector<Ref<Tensor>>& out) {
  if (context_.stance() == Stance::force_eager || op.has(kOwnRules)) return false;
  if (!op.vjp && (op.has(kRandom) || op.has(kEager))) return false;
  const GradientInputs inputs(in, results, cotangents, wanted);
  const std::shared_ptr<Program> program = find(op, args, in, inputs.key(), [&](Program& made) {
    made.prepare(function_of_gradient(op, made.key, inputs, made.places), inputs.tensors);
  });
  if (!program->compiled()) return false;
  std::vector<Ref<Tensor>> made;
  program->run(inputs.tensors, made);
  out.clear();
  for (const GradientPlace& place : program->places)
    out.push_back(place.kind == GradientPlace::Kind::none     ? Ref<Tensor>()
                  : place.kind == GradientPlace::Kind::result ? made[place.index]
                                                              : Ref<Tensor>(inputs.tensors[place.index]));
  return true;
}

void use_eager_programs(Context& context) { context.set_composites(std::make_unique<EagerPrograms>(context)); }

}  // namespace thunder
