#include "ops/world_collectives.h"

#include "base/text.h"
#include "base/thrown.h"
#include "ops/kernels.h"

namespace thunder {
namespace {

// Where nothing was set: the process is the whole world.
class OneRank : public RankAxes {
 public:
  int64_t size(std::string_view axis) override { return check(axis), 1; }
  int64_t index(std::string_view axis) override { return check(axis), 0; }
  Device device() const override { return Device::cpu; }
  Status* run(const CollectiveCall& call) override {
    copy_strided(call.in, call.out);
    return nullptr;
  }

 private:
  static void check(std::string_view axis) {
    if (axis != kWorldAxis)
      fail(Code::not_found, "there is no axis '", axis, "': a mesh names axes, and this context has none yet");
  }
};

std::shared_ptr<RankAxes> axes_of(const RankAxesSlot& slot) {
  static const auto one = std::make_shared<OneRank>();
  if (auto set = slot.get()) return set;
  return one;
}

const CollectiveOp& collective(const OpDef& op) {
  return static_cast<const CollectiveOp&>(op);
}

// The kernel takes dense buffers: what is strided is copied.
class Dense {
 public:
  explicit Dense(const Buffer& b) : buffer(b), strides_(dense_strides({b.shape, static_cast<size_t>(b.rank)})) {
    const auto rank = static_cast<size_t>(b.rank);
    dense_ = is_dense({b.shape, rank}, {b.strides, rank});
    if (dense_) return;
    memory_.resize(static_cast<size_t>(b.elements()) * size_of(b.dtype));
    buffer.data = memory_.data(), buffer.strides = strides_.data();
  }
  Buffer buffer;
  bool is_copy() const { return !dense_; }

 private:
  Sizes strides_;
  std::vector<std::byte> memory_;
  bool dense_;
};

constexpr std::string_view kCollectivePrims[] = {"prims.all_reduce", "prims.all_gather", "prims.reduce_scatter",
                                                 "prims.broadcast"};
constexpr std::string_view kReductionNames[] = {"sum", "max", "min"};

template <class T, size_t n>
T find_name(const std::string_view (&names)[n], std::string_view name) {
  return static_cast<T>(std::find(names, names + n, name) - names);
}

CollectiveCall call_of(const KernelArgs& k) {
  CollectiveCall call{find_name<Collective>(kCollectivePrims, k.op->name()), k.args[1].text(), k.args[2].i};
  if (call.what == Collective::broadcast)
    call.root = k.args[3].i;
  else if (call.what != Collective::all_gather)
    call.reduction = find_name<RankReduction>(kReductionNames, k.args[3].text());
  return call;
}

// Runs it on dense buffers.
Status* run_dense(const KernelArgs& k, CollectiveCall call) {
  const auto axes = axes_of(*collective(*k.op).slot);
  const int64_t ranks = axes->size(call.axis);
  if (ranks != call.ranks)
    return refuse(cat(k.op->name(), ": axis '", call.axis, "' had ", call.ranks,
                      " ranks when this was recorded, and has ", ranks, " here: record it again"));
  return axes->run(call);
}

}  // namespace

Status* run_collective(const KernelArgs& k) {
  return run_collective_at(k, nullptr);
}

Status* run_collective_at(const KernelArgs& k, const char* where) {
  return catch_as_status([&]() -> Status* {
    CollectiveCall call = call_of(k);
    call.where = where;
    Dense in(k.in[0]), out(k.out[0]);
    if (in.is_copy()) copy_strided(k.in[0], in.buffer);
    call.in = in.buffer, call.out = out.buffer;
    if (Status* failed = run_dense(k, call)) return failed;
    if (out.is_copy()) copy_strided(out.buffer, k.out[0]);
    return nullptr;
  });
}

Status* run_collective_on(Accelerator& device, const KernelArgs& k, const char* where) {
  return catch_as_status([&] {
    CollectiveCall call = call_of(k);
    call.where = where, call.in = k.in[0], call.out = k.out[0], call.device = &device;
    return run_dense(k, call);
  });
}

Status* run_axis_index(const KernelArgs& k) {
  return catch_as_status([&]() -> Status* {
    *k.out[0].as<int64_t>() = axes_of(*collective(*k.op).slot)->index(k.args[0].text());
    return nullptr;
  });
}

void RankAxesSlot::add_engine(std::string name, std::shared_ptr<scale::Engine> engine) {
  const std::lock_guard lock(mutex_);
  require(!engines_.count(name), "engine '", name, "' is already registered");
  engines_.emplace(std::move(name), std::move(engine));
}

std::shared_ptr<scale::Engine> RankAxesSlot::find_engine(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto it = engines_.find(name);
  return it == engines_.end() ? nullptr : it->second;
}

Device device_of_ranks(const OpDef& op) {
  return axes_of(*collective(op).slot)->device();
}

RankAxesSlot& rank_axes(const Registry& registry) {
  return *collective(registry.get("prims.all_reduce")).slot;
}

int64_t ranks_along(const Registry& registry, std::string_view axis) {
  return axes_of(rank_axes(registry))->size(axis);
}

}  // namespace thunder
