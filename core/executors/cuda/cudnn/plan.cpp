#include "executors/cuda/cudnn/plan.h"

#include <algorithm>

#include "base/small_vector.h"
#include "base/text.h"
#include "base/thrown.h"

namespace thunder::cudnn {
namespace {

// Whether an engine is deterministic, and as precise as the options ask.
bool meets_options(const Session& session, const Descriptor& config, const PlanOptions& options) {
  const Descriptor engine(session, kEngine);
  Desc found = engine.get();
  config.get(kConfigEngine, kTypeDescriptor, 1, &found);
  std::array<int, kNotes> notes{};
  const int64_t count = engine.get(kEngineNotes, kTypeNumericalNote, kNotes, notes.data());
  return std::none_of(notes.begin(), notes.begin() + std::min<int64_t>(count, kNotes), [&](int note) {
    if (note == kNondeterministic || note == kReducedPrecision) return true;
    return (note == kTensorCore && !options.tensor_cores) || (note == kDownConverts && !options.down_converts);
  });
}

}  // namespace

Plan::Plan(Graph graph, const PlanOptions& options, const char* what) : graph_(std::move(graph)) {
  const Session& session = graph_.session();
  const Descriptor& of = graph_.finalize();
  const Handle handle = session.handle();
  for (const int mode : {kModeA, kModeFallback})
    for (Descriptor& config : find_engine_configs(session, of, mode)) {
      if (!meets_options(session, config, options)) continue;
      Descriptor plan(session, kPlan);
      plan.set(kPlanHandle, kTypeHandle, 1, &handle);
      plan.set(kPlanConfig, config);
      if (!plan.try_finalize()) continue;
      int64_t bytes = 0;
      plan.get(kPlanWorkspace, kTypeInt64, 1, &bytes);
      if (bytes > options.most_workspace) continue;
      workspace_bytes_ = static_cast<size_t>(bytes);
      kept_.push_back(std::move(config));
      kept_.push_back(std::move(plan));
      return;
    }
  fail(Code::declined, name(session.device().id()), ": cuDNN has no engine for this ", what,
       " that gives the same bits at each run");
}

Status* Plan::run(std::span<const Binding> bindings, void* workspace) const {
  const Session& session = graph_.session();
  return catch_as_status([&] {
    SmallVector<int64_t, 16> ids;
    SmallVector<void*, 16> pointers;
    for (const auto& [id, memory] : bindings) ids.push_back(id), pointers.push_back(memory);
    for (const auto& [id, value] : graph_.scalars_) ids.push_back(id), pointers.push_back(const_cast<float*>(&value));
    Descriptor pack(session, kVariantPack);
    pack.set(kPackIds, kTypeInt64, static_cast<int64_t>(ids.size()), ids.data());
    pack.set(kPackPointers, kTypePointer, static_cast<int64_t>(pointers.size()), pointers.data());
    pack.set(kPackWorkspace, kTypePointer, 1, &workspace);
    pack.finalize();
    return session.status(session.library().execute(session.handle(), kept_.back().get(), pack.get()),
                          "cudnnBackendExecute");
  });
}

}  // namespace thunder::cudnn
