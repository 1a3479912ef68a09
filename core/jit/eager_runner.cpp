#include "jit/eager_runner.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/hash.h"
#include "base/text.h"
#include "ops/widened.h"
#include "program/program.h"
#include "tensor/transfer.h"
#include "tracer/compile_settings.h"

namespace thunder {
namespace {

constexpr size_t kMaxCalls = 512;  // entries of the cache, which is then cleared

// A node and its kernel, which serves all eager calls of the same op, types and arguments.
class EagerCall : public Counted<EagerCall> {
 public:
  EagerCall(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in, std::span<const Buffer> out,
            const Executors& executors) {
    std::vector<Arg> copies(args.begin(), args.end());
    std::vector<ValueId> results;
    std::vector<std::vector<ValueId>> lists(copies.size());
    size_t next = 0;
    for (size_t i = 0; i < copies.size(); i++) {
      const size_t count = inputs_of(copies[i], op.schema.params[i]);
      if (copies[i].kind == ArgKind::value) copies[i].v = add(in[next]);
      if (copies[i].kind == ArgKind::values) {
        for (size_t k = 0; k < count; k++) lists[i].push_back(add(in[next + k]));
        copies[i] = Arg::values(lists[i]);
      }
      next += count;
    }
    for (const Buffer& b : out) results.push_back(add(b));
    for (const Buffer& b : in) on_device_ = on_device_ || b.device != Device::cpu;
    for (const Buffer& b : out) on_device_ = on_device_ || b.device != Device::cpu;
    if (on_device_)
      for (const Buffer& b : in) strides_.insert(strides_.end(), b.strides, b.strides + std::max(b.rank, 0));
    node_ = store_.node(&op, copies, results, {}, nullptr);
    const CompileSettings& settings = default_settings();
    const NodeView view{*node_, store_, settings};
    for (auto& e : executors) {
      if (!e->claims(view)) continue;
      try {
        kernel_ = e->prepare(view);
        // Kernels for devices other than the CPU are specialised for the strides, which are then part of the key.
        if (on_device_) kernel_->lay_out({*node_, store_, settings, in, out}), kernel_->finish();
        return;
      } catch (const Error& failed) {
        if (failed.code() != Code::declined) throw;
      }
    }
    fail(Code::unimplemented, op.name(), ": every executor declined to prepare it");
  }

  // The key of the cache: the op, its arguments and the types of its tensors; strides too, where these matter.
  static uint64_t hash(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in) {
    uint64_t h = reinterpret_cast<uintptr_t>(&op);
    for (const Arg& a : args)
      if (a.kind == ArgKind::values) h = mix(h, a.value_list().size());
      else if (a.kind != ArgKind::value) h = thunder::hash(a, h);
    for (const Buffer& b : in) {
      h = mix(h, static_cast<uint64_t>(b.dtype) << 8 | static_cast<uint64_t>(b.rank) |
                     static_cast<uint64_t>(b.device) << 32);
      for (int32_t i = 0; i < b.rank; i++) h = mix(h, static_cast<uint64_t>(b.shape[i]));
      if (b.device == Device::cpu) continue;
      for (int32_t i = 0; i < b.rank; i++) h = mix(h, static_cast<uint64_t>(b.strides[i]));
    }
    return h;
  }
  bool matches(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in) const {
    if (node_->op != &op || node_->args.size() != args.size()) return false;
    for (size_t i = 0, next = 0; i < args.size(); i++) {
      const Arg &mine = node_->args[i], &given = args[i];
      if (mine.kind != given.kind) return false;
      const size_t count = inputs_of(given, op.schema.params[i]);
      if (given.kind == ArgKind::value) {
        if (!is_type_of(store_.type(mine.v), in[next])) return false;
      } else if (given.kind == ArgKind::values) {
        if (mine.value_list().size() != count) return false;
        for (size_t k = 0; k < count; k++)
          if (!is_type_of(store_.type(mine.value_list()[k]), in[next + k])) return false;
      } else if (!same(mine, given)) {
        return false;
      }
      next += count;
    }
    return !on_device_ || has_strides(in);
  }

  Status* run(std::span<const Buffer> in, std::span<const Buffer> out, Devices& devices, ThreadPool& threads) const {
    Launch launch = launch_on(in, out, &threads);
    Ref<Storage> scratch;
    const Device device = out.empty() ? Device::cpu : out[0].device;
    if (const size_t bytes = kernel_->scratch())
      scratch = Storage::allocate(devices.allocator(device), bytes), launch.scratch = scratch->data();
    if (device != Device::cpu) launch.native_stream = devices.accelerator(device).native_stream();
    if (!on_device_ || kernel_->has(kStrided)) return kernel_->call()(&launch);
    std::vector<Buffer> dense(in.begin(), in.end());
    std::vector<Ref<Tensor>> copies;
    for (Buffer& b : dense) {
      const auto rank = static_cast<size_t>(b.rank);
      if (!b.present() || b.device == Device::cpu || is_dense({b.shape, rank}, {b.strides, rank})) continue;
      b = copies.emplace_back(dense_copy(devices.allocator(b.device), *tensor_over(b, devices)))->buffer();
    }
    launch.inputs = dense.data();
    return kernel_->call()(&launch);
  }

 private:
  friend class Counted<EagerCall>;
  bool has_strides(std::span<const Buffer> in) const {
    size_t next = 0;
    for (const Buffer& b : in)
      for (int32_t i = 0; i < b.rank; i++)
        if (next == strides_.size() || strides_[next++] != b.strides[i]) return false;
    return next == strides_.size();
  }
  ~EagerCall() = default;

  ValueId add(const Buffer& b) {
    TensorType t;
    t.dtype = b.dtype, t.device = b.device;
    for (int32_t i = 0; i < b.rank; i++) t.shape.push_back(b.shape[i]);
    return store_.add(t);
  }
  static bool is_type_of(const TensorType& t, const Buffer& b) {
    if (t.dtype != b.dtype || t.device != b.device || t.rank() != static_cast<size_t>(b.rank)) return false;
    for (size_t i = 0; i < t.rank(); i++)
      if (t.shape[i] != b.shape[i]) return false;
    return true;
  }

  Store store_;
  const Node* node_ = nullptr;
  KernelPtr kernel_;
  bool on_device_ = false;        // some tensor is not on the CPU
  std::vector<int64_t> strides_;  // of the inputs, if on_device_
};

class EagerRunner : public OpRunner {
 public:
  EagerRunner(Executors executors, Devices& devices, ThreadPool& threads)
      : executors_(std::move(executors)), devices_(devices), threads_(threads) {
    for (size_t i = 0; i + 1 < executors_.size(); i++)
      if (executors_[i]->desc().flags & kStrided)
        named_.insert(named_.end(), executors_[i]->desc().ops.begin(), executors_[i]->desc().ops.end());
  }

  Status* run(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in,
              std::span<const Buffer> out) override {
    bool named = is_named(op);
    for (const Arg& a : args) named = named && a.kind != ArgKind::values;
    for (const Buffer& b : in) named = named || b.device != Device::cpu;
    for (const Buffer& b : out) named = named || b.device != Device::cpu;
    if (!named) return run_reference(op, {in, out, args, &op, &threads_});
    return find(op, args, in, out)->run(in, out, devices_, threads_);
  }

 private:
  // Whether an executor names the op. Asked at each call, so answers are cached: the op's address, plus 1 if one does.
  bool is_named(const OpDef& op) {
    const auto asked = reinterpret_cast<uintptr_t>(&op);
    std::atomic<uintptr_t>& kept = answers_[asked / alignof(std::max_align_t) % kAnswers];
    const uintptr_t known = kept.load(std::memory_order_relaxed);
    if ((known & ~uintptr_t{1}) == asked) return known & 1;
    const bool found = std::find(named_.begin(), named_.end(), op.name()) != named_.end();
    kept.store(asked | found, std::memory_order_relaxed);
    return found;
  }

  Ref<EagerCall> find(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in,
                      std::span<const Buffer> out) {
    const uint64_t key = EagerCall::hash(op, args, in);
    {
      std::shared_lock lock(mutex_);
      auto [it, end] = calls_.equal_range(key);
      for (; it != end; ++it)
        if (it->second->matches(op, args, in)) return it->second;
    }
    auto made = make<EagerCall>(op, args, in, out, executors_);
    std::unique_lock lock(mutex_);
    if (calls_.size() >= kMaxCalls) calls_.clear();
    calls_.emplace(key, made);
    return made;
  }

  const Executors executors_;
  Devices& devices_;
  ThreadPool& threads_;
  std::vector<std::string_view> named_;
  static constexpr size_t kAnswers = 256;
  std::array<std::atomic<uintptr_t>, kAnswers> answers_{};
  std::shared_mutex mutex_;
  std::unordered_multimap<uint64_t, Ref<EagerCall>> calls_;
};

}  // namespace

std::unique_ptr<OpRunner> eager_runner(Executors executors, Devices& devices, ThreadPool& threads) {
  return std::make_unique<EagerRunner>(std::move(executors), devices, threads);
}

}  // namespace thunder
