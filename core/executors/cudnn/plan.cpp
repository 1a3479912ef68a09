#include "executors/cudnn/plan.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "base/thrown.h"

namespace thunder::cudnn {
namespace {

constexpr int64_t kMostWorkspace = int64_t{1} << 30;
constexpr int64_t kFilterId = 1, kImageId = 2, kResultId = 3;

DataType data_type(DType dtype) { return dtype == DType::f64 ? kF64 : dtype == DType::bf16 ? kBF16 : kF32; }

// Makes the graph of one convolution. What refers to a descriptor is not said to outlive it, so all are kept.
class Builder {
 public:
  Builder(const Session& session, const Problem& problem, std::deque<Descriptor>& kept) : session_(session), p_(problem), kept_(kept) {}

  const Descriptor& graph() {
    const Handle handle = session_.handle();
    const Descriptor& op = operation();
    Descriptor& d = make(kGraph);
    d.set(kGraphHandle, kTypeHandle, 1, &handle);
    d.set(kGraphOperations, op);
    return finalized(d);
  }

 private:
  Descriptor& make(Kind kind) { return kept_.emplace_back(session_, kind); }
  static const Descriptor& finalized(Descriptor& d) {
    d.finalize();
    return d;
  }

  const Descriptor& tensor(const Layout& layout, int64_t id) {
    Descriptor& d = make(kTensor);
    d.set(kTensorDataType, kTypeDataType, data_type(p_.dtype));
    d.set(kTensorSizes, kTypeInt64, 4, layout.sizes.data());
    d.set(kTensorStrides, kTypeInt64, 4, layout.strides.data());
    d.set(kTensorId, id);
    d.set(kTensorAlignment, p_.alignment);
    return finalized(d);
  }

  const Descriptor& convolution() {
    Descriptor& d = make(kConvolution);
    d.set(kConvolutionCompute, kTypeDataType, p_.dtype == DType::f64 ? kF64 : kF32);
    d.set(kConvolutionMode, kTypeConvolutionMode, kCrossCorrelation);
    d.set(kConvolutionDims, int64_t{2});
    d.set(kConvolutionDilations, kTypeInt64, 2, p_.dilation.data());
    d.set(kConvolutionStrides, kTypeInt64, 2, p_.stride.data());
    d.set(kConvolutionPaddingBefore, kTypeInt64, 2, p_.padding.data());
    d.set(kConvolutionPaddingAfter, kTypeInt64, 2, p_.padding.data());
    return finalized(d);
  }

  const Descriptor& operation() {
    const int first = p_.operation == kForward ? kForwardAlpha : p_.operation == kBackwardData ? kBackwardDataAlpha : kBackwardFilterAlpha;
    Descriptor& d = make(p_.operation);
    if (p_.dtype == DType::f64) scale<double>(d, first, kTypeDouble);
    else scale<float>(d, first, kTypeFloat);
    d.set(first + 2, convolution());
    d.set(first + 3, tensor(p_.filter, kFilterId));
    d.set(first + 4, tensor(p_.image, kImageId));
    d.set(first + 5, tensor(p_.result, kResultId));
    return finalized(d);
  }

  template <class T>
  static void scale(Descriptor& d, int first, Type type) {
    const T alpha = 1, beta = 0;
    d.set(first, type, 1, &alpha);
    d.set(first + 1, type, 1, &beta);
  }

  const Session& session_;
  const Problem& p_;
  std::deque<Descriptor>& kept_;
};

// Whether an engine's results are the same at each run, and those of f32 not of rounded operands.
bool keeps_promises(const Session& session, const Descriptor& config, DType dtype) {
  const Descriptor engine(session, kEngine);
  Desc found = engine.get();
  config.get(kConfigEngine, kTypeDescriptor, 1, &found);
  std::array<int, kNotes> notes{};
  const int64_t count = engine.get(kEngineNotes, kTypeNumericalNote, kNotes, notes.data());
  return std::none_of(notes.begin(), notes.begin() + std::min<int64_t>(count, kNotes), [&](int note) {
    if (note == kNondeterministic || note == kReducedPrecision) return true;
    return dtype != DType::bf16 && (note == kTensorCore || note == kDownConverts);
  });
}

// Those that heuristics of this mode propose, the best first.
std::vector<Descriptor> configs(const Session& session, const Descriptor& of, int mode) {
  Descriptor heuristics(session, kHeuristics);
  heuristics.set(kHeuristicsGraph, of);
  heuristics.set(kHeuristicsModeOf, kTypeHeuristicsMode, mode);
  std::vector<Descriptor> out;
  if (!heuristics.try_finalize()) return out;
  constexpr int64_t kMost = 64;
  std::vector<Desc> found;
  for (int64_t i = 0; i < kMost; i++) found.push_back(out.emplace_back(session, kEngineConfig).get());
  const int64_t count = heuristics.get(kHeuristicsResults, kTypeDescriptor, kMost, found.data());
  while (static_cast<int64_t>(out.size()) > count) out.pop_back();
  return out;
}

}  // namespace

std::string Problem::key() const {
  std::string out = cat(static_cast<int>(operation), " ", name(dtype), " ", alignment);
  const auto add = [&](const auto& numbers) {
    for (const int64_t n : numbers) out += cat(" ", n);
  };
  for (const Layout* l : {&filter, &image, &result}) add(l->sizes), add(l->strides);
  add(stride), add(padding), add(dilation);
  return out;
}

Plan::Plan(const Session& session, const Problem& problem) {
  const Descriptor& graph = Builder(session, problem, kept_).graph();
  const Handle handle = session.handle();
  for (const int mode : {kModeA, kModeFallback})
    for (Descriptor& config : configs(session, graph, mode)) {
      if (!keeps_promises(session, config, problem.dtype)) continue;
      Descriptor plan(session, kPlan);
      plan.set(kPlanHandle, kTypeHandle, 1, &handle);
      plan.set(kPlanConfig, config);
      if (!plan.try_finalize()) continue;
      int64_t bytes = 0;
      plan.get(kPlanWorkspace, kTypeInt64, 1, &bytes);
      if (bytes > kMostWorkspace) continue;
      workspace_bytes_ = static_cast<size_t>(bytes);
      kept_.push_back(std::move(config));
      kept_.push_back(std::move(plan));
      return;
    }
  fail(Code::backend, name(session.device().id()), ": cuDNN has no engine for this convolution that gives the same bits at each run");
}

Status* Plan::run(const Session& session, void* filter, void* image, void* result, void* workspace) const {
  const std::array<int64_t, 3> ids = {kFilterId, kImageId, kResultId};
  const std::array<void*, 3> pointers = {filter, image, result};
  return caught([&] {
    Descriptor pack(session, kVariantPack);
    pack.set(kPackIds, kTypeInt64, 3, ids.data());
    pack.set(kPackPointers, kTypePointer, 3, pointers.data());
    pack.set(kPackWorkspace, kTypePointer, 1, &workspace);
    pack.finalize();
    return session.status(session.library().execute(session.handle(), kept_.back().get(), pack.get()), "cudnnBackendExecute");
  });
}

}  // namespace thunder::cudnn
