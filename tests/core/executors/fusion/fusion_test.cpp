// The executor picks the target of a line's device, and asks no other one.
#include "executors/fusion/fusion.h"

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

constexpr Device kElsewhere = static_cast<Device>(7 << 16), kThere = static_cast<Device>(7 << 16 | 1);

// Computes nothing, but notes what it is asked for.
struct Recording : Target {
  explicit Recording(Device device, Capabilities can = {}, bool is_there = true)
      : device(device), can(can), is_there(is_there) {}
  std::string_view name() const override { return "recording"; }
  int32_t device_kind() const override { return kind(device); }
  const Capabilities& capabilities() const override { return can; }
  bool available(std::string* why) const override {
    if (why && !is_there) *why = "it is not there";
    return is_there;
  }
  struct Launches : Kernel {
    explicit Launches(size_t& runs) : Kernel(this), runs(runs) {}
    size_t scratch() const override { return 96; }
    Status* run(const Launch*) const { return runs++, nullptr; }
    size_t& runs;
  };
  KernelPtr launcher(LoweredRegion region) const override {
    regions.push_back(std::move(region));
    return std::make_unique<Launches>(runs);
  }

  Device device;
  Capabilities can;
  bool is_there;
  mutable std::vector<LoweredRegion> regions;
  mutable size_t runs = 0;
};

// The reference kernels for devices that are not there.
ExecutorDesc host_everywhere() {
  ExecutorDesc d = host_executor();
  d.any_device = true;
  return d;
}

struct Fusion : LinesTest {
  Targets targets;
  const Recording& add(Device device, const Capabilities& can = {}, bool is_there = true) {
    auto made = std::make_unique<Recording>(device, can, is_there);
    const Recording& target = *made;
    targets.add(std::move(made));
    return target;
  }
  Var on(Device device, std::initializer_list<Dim> shape, DType dtype = DType::f32) {
    TensorType type = tests::tensor_type(shape, dtype);
    type.device = device;
    return maker.input("x", type);
  }
  // The executors of the lines, in the trace's order.
  std::string executors_of(std::initializer_list<Var> outputs) {
    const Executors executors = {make<Executor>(fusion_executor(targets)), make<Executor>(host_everywhere())};
    RegionStates states;
    const Trace trace =
        test::in_regions(maker.finish(outputs), executors, maker.registry.get("region"), states);
    return join(trace.nodes, " ", [](const Node* n) {
      return std::string(n->executor) + (n->body.empty() ? "" : cat("[", n->body.size(), "]"));
    });
  }
};

TEST_F(Fusion, claims_for_a_target_that_needs_no_cpu_compiler) {
  add(Device::cpu, {}, false), add(kElsewhere);
  Var here = prim("prims.neg", {prim("prims.exp", {on(Device::cpu, {40})})});
  EXPECT_EQ(executors_of({here, prim("prims.neg", {prim("prims.exp", {on(kElsewhere, {40})})})}),
            "host host fusion[2]");
}

TEST_F(Fusion, claims_nothing_on_a_device_without_a_target) {
  add(Device::cpu);
  EXPECT_EQ(executors_of({prim("prims.exp", {on(kElsewhere, {40})})}), "host");
}

// Both are of one kind, and one target runs on both.
TEST_F(Fusion, never_mixes_devices_in_a_region) {
  add(kElsewhere);
  Var a = prim("prims.exp", {on(kElsewhere, {40})}), b = prim("prims.exp", {on(kThere, {40})});
  EXPECT_EQ(executors_of({prim("prims.neg", {a}), prim("prims.neg", {b})}), "fusion[2] fusion[2]");
  const ExecutorDesc executor = fusion_executor(targets);
  RegionState state;
  EXPECT_FALSE(executor.fits(lines(), store(), state, executor.user));
  EXPECT_EQ(state, nullptr);
  const Capabilities can;
  Group group(store(), can);
  EXPECT_FALSE(group.add_all(lines()));
  EXPECT_EQ(group.rejection_reason(), "it is computed on another device than the rest of the group");
}

TEST_F(Fusion, gives_the_target_the_region_and_runs_its_launcher) {
  const Recording& target = add(kThere);
  Var x = on(kThere, {4, 6}), y = prim("prims.neg", {prim("prims.exp", {x})});
  const Executors executors = {make<Executor>(fusion_executor(targets)), make<Executor>(host_everywhere())};
  RegionStates states;
  const Trace trace = test::in_regions(maker.finish({y}), executors, maker.registry.get("region"), states);
  ASSERT_EQ(trace.nodes.size(), 1u);
  const int64_t shape[] = {4, 6}, strides[] = {8, 1}, dense[] = {6, 1};
  Buffer in, out;
  in.shape = out.shape = shape, in.strides = strides, out.strides = dense, in.rank = out.rank = 2,
  in.dtype = out.dtype = DType::f32;
  const NodeView view{*trace.nodes[0], store(), default_settings(), {&in, 1}, {&out, 1}};
  const KernelPtr kernel = executors[0]->prepare(view);
  kernel->adapt_to_layouts(view);
  EXPECT_EQ(kernel->scratch(), 96u);
  ASSERT_EQ(target.regions.size(), 1u);
  LoweredRegion region = target.regions[0];
  EXPECT_EQ(region.device, kThere);
  EXPECT_EQ(region.reduced, 0u);
  order_loops(region.nest, region.reduced);
  EXPECT_EQ(region.nest.extents, (std::vector<int64_t>{4, 6}));
  EXPECT_EQ(parameters(region.nest), (std::vector<int64_t>{4, 6, 8, 6}));
  const Launch launch;
  EXPECT_EQ(kernel->call()(&launch), nullptr);
  EXPECT_EQ(target.runs, 1u);
  in.strides = dense;
  kernel->adapt_to_layouts(view);
  ASSERT_EQ(target.regions.size(), 2u) << "it can be laid out again";
  Nest again = target.regions[1].nest;
  order_loops(again, 0);
  EXPECT_EQ(parameters(again), (std::vector<int64_t>{24}));
}

TEST_F(Fusion, respects_the_capabilities_of_the_target) {
  Capabilities can;
  can.scans = can.column_sums = false;
  add(kElsewhere, can);
  EXPECT_EQ(executors_of({prim("prims.cumsum", {on(kElsewhere, {4, 40}), 1, false})}), "host");
}

TEST_F(Fusion, computes_column_sums_in_separate_kernels_if_the_target_requires_it) {
  Capabilities can;
  can.column_sums = false;
  add(kElsewhere, can);
  Var x = prim("prims.exp", {on(kElsewhere, {40, 30})});
  EXPECT_EQ(executors_of({prim("prims.amax", {x, Shape{1}}), prim("prims.sum", {x, Shape{0}})}), "fusion[2] fusion");
}

TEST_F(Fusion, reads_host_scalars_if_the_target_supports_it) {
  for (const bool reads : {false, true}) {
    Capabilities can;
    can.host_scalars = reads;
    TensorType number = tests::tensor_type({}, DType::f32);
    Store store;
    const TensorType there{DType::f32, kElsewhere, false, Shape{40}};
    const ValueId x = store.add(there), scale = store.add(number), y = store.add(there);
    const std::vector<Arg> args = {Arg::value(x), Arg::value(scale)};
    const Node* line = store.node(&maker.registry.get("prims.mul"), args, std::vector<ValueId>{y}, {}, nullptr);
    EXPECT_EQ(is_computable(*line, store, can), reads);
  }
}

}  // namespace
}  // namespace thunder::fusion
