#include "executors/cuda/cudnn/attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <mutex>

#include "base/text.h"
#include "base/thrown.h"
#include "executors/cuda/cudnn/attention_padded.h"
#include "executors/cuda/cudnn/attention_parts.h"

namespace thunder::cudnn {
namespace {

constexpr int64_t kMostWidth = 256, kWidthStep = 8;
constexpr size_t kLargest = 5;  // of the backward's operands, the first that is a statistic

bool is_aligned(const Buffer& b) {
  return reinterpret_cast<uintptr_t>(b.data) % Graph::kAlignment == 0;
}

class AttentionKernel : public Kernel {
 public:
  // `padded`: the sizes whose plan it uses until it was run often.
  AttentionKernel(Session& session, const AttentionSizes& sizes, std::vector<AttentionPart> parts,
                  const std::optional<AttentionSizes>& padded)
      : Kernel(this), session_(session), sizes_(sizes), parts_(std::move(parts)), padded_sizes_(padded) {
    AttentionKernels::begin_compiling(session.device(), padded.value_or(sizes));
  }

  // Out, or the gradients of query, key and value; not the statistics. The rows that a mask leaves empty are cleared in
  // a dense result.
  bool orders_result(size_t number) const override {
    return sizes_.backward ? number < 3 : number == 0 && sizes_.mask == Mask::none;
  }
  void adapt_to_layouts(const NodeView& view) override {
    if (padded_sizes_) padded_.emplace(session_, sizes_, *padded_sizes_, view.inputs, view.outputs);
    else calls_ = make_calls(view.inputs, view.outputs, false);
  }
  size_t scratch() const override { return scratch_bytes_; }
  double plan_ms() const override { return plan_ms_; }
  void finish_compiling() override {
    if (!calls_.empty()) scratch_bytes_ = finish_calls(calls_, plan_ms_);
    if (padded_) finish_padded();
    kernels_.load_functions(session_.device(), padded_sizes_.value_or(sizes_));
  }
  Status* run(const Launch* launch) const {
    const std::span inputs(launch->inputs, launch->n_inputs), outputs(launch->outputs, launch->n_outputs);
    if (const Calls* own = padded_ ? find_own_calls(inputs, outputs) : calls_.empty() ? nullptr : &calls_;
        own && is_aligned_for_library(inputs))
      return run(*own, inputs, outputs, launch->scratch);
    if (padded_) return padded_->run(inputs, outputs, launch->scratch, kernels_);
    return catch_as_status([&] {
      Calls once = make_calls(inputs, outputs, true);
      double plan_ms = 0;
      const size_t bytes = finish_calls(once, plan_ms);
      const Ref<Storage> scratch = Storage::allocate(session_.device().allocator(), bytes);
      return run(once, inputs, outputs, scratch->data());
    });
  }

 private:
  using Calls = std::deque<AttentionCall>;  // by part

  // Where the library reads, addresses must be aligned; those of parts are where those of the whole are.
  bool is_aligned_for_library(std::span<const Buffer> inputs) const {
    const auto read = static_cast<std::ptrdiff_t>(count_library_inputs(sizes_));
    return std::all_of(inputs.begin(), inputs.begin() + read, is_aligned) &&
           (sizes_.mask != Mask::additive || is_aligned(inputs[count_operands(sizes_)])) &&
           (!sizes_.drops || is_aligned(inputs[count_operands(sizes_) + 1]));
  }
  Calls make_calls(std::span<const Buffer> inputs, std::span<const Buffer> outputs, bool pack) const {
    Calls out;
    for (const AttentionPart& part : parts_) {
      const PartBuffers seen(sizes_, part, inputs, outputs);
      out.emplace_back(session_, part.sizes, seen.inputs(), seen.outputs(), pack);
    }
    return out;
  }
  // The scratch memory that each of them uses in turn.
  size_t finish_calls(Calls& calls, double& plan_ms) const {
    size_t bytes = 0;
    for (size_t i = 0; i < calls.size(); i++) {
      try {
        calls[i].wait_for_plan(plan_ms);
      } catch (const Error& e) {
        if (e.code() == Code::declined) refuse_part(session_, parts_[i].sizes);
        throw;
      }
      bytes = std::max(bytes, calls[i].scratch_bytes());
    }
    return bytes;
  }
  void finish_padded() {
    try {
      padded_->wait_for_plan(plan_ms_);
    } catch (const Error& e) {
      if (e.code() == Code::declined) refuse_part(session_, *padded_sizes_);
      throw;
    }
    scratch_bytes_ = padded_->scratch_bytes();
  }
  Status* run(const Calls& calls, std::span<const Buffer> inputs, std::span<const Buffer> outputs,
              void* scratch) const {
    for (size_t i = 0; i < calls.size(); i++) {
      const PartBuffers seen(sizes_, parts_[i], inputs, outputs);
      if (Status* failed = calls[i].run(seen.inputs(), seen.outputs(), scratch, kernels_)) return failed;
    }
    return nullptr;
  }

  // The calls by a plan of these very sizes, which another thread makes once a length has shown that it comes again.
  // Null: there are none yet.
  const Calls* find_own_calls(std::span<const Buffer> inputs, std::span<const Buffer> outputs) const {
    if (const Calls* own = own_.load(std::memory_order_acquire)) return own;
    const int run = runs_.fetch_add(1, std::memory_order_relaxed);
    if (run < kRunsBeforeOwnPlan) return nullptr;
    std::unique_lock lock(own_mutex_, std::try_to_lock);
    if (!lock || gave_up_) return nullptr;
    const Ref<Status> failed = Ref<Status>::adopt(catch_as_status([&]() -> Status* {
      if (own_calls_.empty()) own_calls_ = make_calls(inputs, outputs, false);
      const auto has_plan = [](const AttentionCall& call) { return call.has_plan(); };
      if (!std::all_of(own_calls_.begin(), own_calls_.end(), has_plan)) return nullptr;
      double plan_ms = 0;
      if (finish_calls(own_calls_, plan_ms) > scratch_bytes_) gave_up_ = true;
      else own_.store(&own_calls_, std::memory_order_release);
      return nullptr;
    }));
    if (failed) gave_up_ = true;  // the padded ones go on
    return own_.load(std::memory_order_acquire);
  }

  static constexpr int kRunsBeforeOwnPlan = 16;
  Session& session_;
  const AttentionSizes sizes_;
  const std::vector<AttentionPart> parts_;
  const std::optional<AttentionSizes> padded_sizes_;
  std::optional<PaddedAttention> padded_;
  mutable std::atomic<int> runs_ = 0;
  mutable std::atomic<const Calls*> own_ = nullptr;
  mutable std::mutex own_mutex_;  // of what follows
  mutable Calls own_calls_;
  mutable bool gave_up_ = false;
  Calls calls_;  // of operands as the program lays them out
  size_t scratch_bytes_ = 0;
  double plan_ms_ = 0;
  AttentionKernels kernels_;
};

// Whether cuDNN takes a mask of scores with so many dims: it must not make them more.
bool accept_mask(const TensorType& mask, size_t rank, AttentionSizes& s) {
  s.mask = mask.dtype == DType::boolean ? Mask::boolean : Mask::additive;
  s.mask_sizes = {1, 1, 1, 1};
  const Sizes4 scores = {s.batch, s.heads, s.queries, s.keys};
  if (kind(mask.device) != kCudaKind || mask.rank() > rank || (s.mask == Mask::additive && mask.dtype != s.dtype))
    return false;
  for (size_t d = 0; d < mask.rank(); d++) {
    const Dim size = mask.shape[mask.rank() - 1 - d];
    if (size.value() != 1 && size.value() != scores[3 - d]) return false;
    s.mask_sizes[3 - d] = size.value();
  }
  return true;
}

// Whether cuDNN takes the dropout mask: of the query's dtype and the shape of the scores.
bool accept_dropout_mask(const TensorType& kept, size_t rank, AttentionSizes& s) {
  s.drops = true;
  if (kind(kept.device) != kCudaKind || kept.rank() != rank || kept.dtype != s.dtype) return false;
  const Sizes4 scores = {s.batch, s.heads, s.queries, s.keys};
  for (size_t d = 0; d < rank; d++)
    if (kept.shape[rank - 1 - d] != Dim(scores[3 - d])) return false;
  return true;
}

}  // namespace

std::optional<AttentionSizes> AttentionSizes::of(const NodeView& view) {
  AttentionSizes s{};
  s.backward = view.node.op->name() == "scaled_dot_product_attention_backward";
  const std::span<const Arg> args = view.node.args;
  const size_t query = s.backward ? 1 : 0, mask = s.backward ? 7 : 3;
  s.dtype = view.store.type(args[query].v).dtype;
  bool takes = is_half(s.dtype);
  for (size_t i = 0; i < mask; i++) {
    const TensorType& t = view.store.type(args[i].v);
    const bool statistic = s.backward && i >= kLargest;
    takes = takes && kind(t.device) == kCudaKind && t.dtype == (statistic ? DType::f32 : s.dtype) && t.rank() >= 3 &&
            t.rank() <= 4 &&
            std::all_of(t.shape.begin(), t.shape.end(), [](Dim d) { return d.value() > 0; });
  }
  if (!takes) return std::nullopt;
  const Sizes q = concrete(view.store.type(args[query].v).shape),
              k = concrete(view.store.type(args[query + 1].v).shape),
              v = concrete(view.store.type(args[query + 2].v).shape);
  const size_t rank = q.size();
  if (k.size() != rank || v.size() != rank) return std::nullopt;
  s.batch = rank == 4 ? q[0] : 1, s.heads = q[rank - 3], s.key_heads = k[rank - 3];
  s.queries = q[rank - 2], s.keys = k[rank - 2], s.width = q[rank - 1], s.value_width = v[rank - 1];
  const bool grouped = args[mask + 3].i != 0;
  if ((rank == 4 && (k[0] != q[0] || v[0] != q[0])) || v[rank - 3] != s.key_heads ||
      (s.heads != s.key_heads && !grouped))
    return std::nullopt;
  for (const int64_t width : {s.width, s.value_width})
    if (width > kMostWidth || width % kWidthStep) return std::nullopt;
  s.causal = args[mask + 1].i != 0;
  s.scale =
      static_cast<float>(args[mask + 2].present() ? args[mask + 2].f : 1 / std::sqrt(static_cast<double>(s.width)));
  if (args[mask].present() && !accept_mask(view.store.type(args[mask].v), rank, s)) return std::nullopt;
  const Arg &kept = args[mask + 4], &kept_scale = args[mask + 5];
  s.kept_scale = static_cast<float>(kept_scale.f);
  if (kept.present() && !accept_dropout_mask(view.store.type(kept.v), rank, s)) return std::nullopt;
  return s;
}

KernelPtr prepare_attention(Session& session, const AttentionSizes& sizes, bool length_varies) {
  if (Status* failed = session.device().enter()) throw Error(Ref<Status>::adopt(failed));
  std::optional<AttentionSizes> padded;
  if (length_varies && !session.has_own_plan(family_of(sizes), {sizes.queries, sizes.keys}))
    padded = padded_sizes(sizes);
  std::vector<AttentionPart> parts = split_into_parts(session, padded ? *padded : sizes);
  if (padded && parts.size() != 1) padded.reset(), parts = split_into_parts(session, sizes);
  if (parts.empty()) return nullptr;
  if (padded) parts = {{sizes}};
  return std::make_unique<AttentionKernel>(session, sizes, std::move(parts), padded);
}

}  // namespace thunder::cudnn
