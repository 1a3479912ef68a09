// Kernels of a class of sizes beside kernels that are made for each size: the same code, parameters and division.
// covers: core/loops/cpu/target.cpp
// covers: core/loops/cuda/target.cpp
#include <gtest/gtest.h>

#include "core/executors/fusion/support.h"
#include "ir/symbolic/conditions.h"
#include "ir/symbolic/substitution.h"
#include "loops/cpu/launcher.h"
#include "loops/cpu/with_sizes.h"
#include "loops/cuda/source.h"
#include "loops/order.h"

namespace thunder::fusion {
namespace {

using loops::CpuLauncher;

struct RegionsOfAClass : LinesTest {
  std::mt19937 random{17};
  Dims& dims = maker.trace.store->dims();
  const Dim n = dims.symbol(24), m = dims.symbol(40);
  size_t held = 0, asked = 0;
  const std::vector<std::vector<int64_t>> all_sizes = {{24, 40}, {1, 40},    {24, 4},  {25, 41},   {7, 64},
                                                    {64, 7},  {128, 128}, {40, 24}, {1000, 33}, {3, 9000}};

  uint32_t pick(uint32_t count) { return static_cast<uint32_t>(random()) % count; }

  // A value of [n, m], of values of this shape.
  Var step(const std::vector<Var>& values) {
    const Var x = values[pick(static_cast<uint32_t>(values.size()))], y = values.back();
    switch (pick(9)) {
      case 0: return prim("prims.exp", {x});
      case 1: return prim("prims.mul", {x, y});
      case 2: return over_rows("prims.sum", x);
      case 3: return over_rows("prims.amax", y);
      case 4: return prim("prims.add", {prim("prims.expand", {input({m}), Shape{n, m}}), y});
      case 5: return prim("prims.reshape", {prim("prims.neg", {prim("prims.reshape", {y, Shape{n * m}})}), Shape{n, m}});
      case 6: {
        const Var part = prim("prims.slice", {y, Shape{0, 1}, Shape{n, m}, Shape{1, 1}});
        return prim("prims.pad", {part, Shape{0, 1}, Shape{0, 0}, 0.5});
      }
      case 7: {
        const Var a = prim("prims.slice", {y, Shape{0, 0}, Shape{n, 3}, Shape{1, 1}}),
                  b = prim("prims.slice", {x, Shape{0, 3}, Shape{n, m}, Shape{1, 1}});
        return prim("prims.cat", {ValueList{a.id, b.id}, 1});
      }
      default: return prim("prims.add", {x, prim("prims.permute", {input({m, n}), Shape{1, 0}})});
    }
  }
  Var over_rows(std::string_view op, Var x) {
    const Var sums = prim(op, {x, Shape{1}});
    return prim("prims.expand", {prim("prims.reshape", {sums, Shape{n, 1}}), Shape{n, m}});
  }

  static TensorLayout dense(const TensorType& type) {
    TensorLayout out{type.dtype, {}, {}};
    Size stride = 1;
    for (size_t i = type.rank(); i-- > 0;) {
      out.sizes.insert(out.sizes.begin(), type.shape[i]), out.strides.insert(out.strides.begin(), stride);
      stride *= type.shape[i];
    }
    return out;
  }
  static LineView dense_line(const Node& node, const Store& store) {
    LineView line{node, store, {}, {}};
    for_each_value(node.args, [&](ValueId v) { line.inputs.push_back(dense(store.type(v))); });
    for (ValueId v : node.results) line.outputs.push_back(dense(store.type(v)));
    return line;
  }
  static LoweredRegionOf<Size> lowered_of(const Node& node, const Store& store) {
    Group group(store, capabilities());
    EXPECT_TRUE(group.add_all(nodes_of(node))) << group.rejection_reason();
    return lower(dense_line(node, store), group);
  }
  static KernelPtr alone(const Trace& trace, const Node& line, const std::vector<int64_t>& symbols) {
    Substitution sizes({Dim(symbols[0]), Dim(symbols[1])});
    Specialisation specialise(trace.store, sizes);
    const Node& node = *specialise(&line);
    return targets().find(Device::cpu)->launcher(loops::with_sizes<int64_t>(
        lowered_of(node, specialise.store()), [](const Size& s) { return s.value(); }));
  }
  static std::string describe(const Kernel& kernel) {
    const auto& l = dynamic_cast<const CpuLauncher&>(kernel);
    return cat(print(l.nest()), join(l.arguments(), " ", [](int64_t p) { return cat(p); }), "\nitems ", l.items(),
               ", grain ", l.grain(), ", chunks ", l.partials().chunks(), ", scratch ", l.scratch());
  }

  void compare(const Trace& trace, const Node& line) {
    const KernelPtr first = alone(trace, line, {24, 40});
    const DimReads reads(DimReads::Of::lines);
    Formulas formulas;
    const auto of_class = targets().find(Device::cpu)->of_class(lowered_of(line, *trace.store), *first, formulas);
    ASSERT_TRUE(of_class) << print(trace);
    ASSERT_TRUE(reads.noted().empty()) << name(Dim(reads.noted()[0])) << " is looked at as a number\n" << print(trace);
    const Conditions conditions(reads.conditions());
    for (const std::vector<int64_t>& sizes : all_sizes) {
      asked++;
      if (!conditions.hold_for(sizes)) continue;
      held++;
      const KernelPtr made =
          of_class->launcher_for(std::make_shared<const std::vector<int64_t>>(formulas.evaluate(sizes)));
      EXPECT_EQ(describe(*made), describe(*alone(trace, line, sizes))) << sizes[0] << " " << sizes[1];
    }
  }

  static std::string parameters_of(const loops::Nest& nest) {
    return join(parameters(nest), " ", [](int64_t p) { return cat(p); });
  }
  // The region with its loops ordered, as CUDA C++, and its parameters.
  static std::string text_of(LoweredRegion region, loops::CudaTextKey& key) {
    order_loops(region.nest, region.reduced);
    const loops::CudaSchedule schedule = cuda_schedule(region.nest, {});
    key = text_key(region.nest, schedule);
    return cuda_source(region.nest, schedule, "kernel").text + parameters_of(region.nest);
  }
  // The text of one size with the parameters of another, which a class of sizes gives.
  void compare_texts(const Trace& trace, const Node& line) {
    const DimReads reads(DimReads::Of::lines);
    const LoweredRegionOf<Size> lowered = lowered_of(line, *trace.store);
    LoweredRegionOf<Size> ordered = lowered;
    order_loops(ordered.nest, ordered.reduced);
    print(ordered.nest);
    ASSERT_TRUE(reads.noted().empty()) << name(Dim(reads.noted()[0])) << " is looked at as a number\n" << print(trace);
    const Conditions conditions(reads.conditions());
    Formulas formulas;
    const auto compiled = loops::with_sizes<FormulaRef>(ordered, [&](const Size& s) { return formulas.add(s.dim()); });
    const auto with = [&](const std::vector<int64_t>& symbols) {
      const std::vector<int64_t> values = formulas.evaluate(symbols);
      return loops::with_sizes<int64_t>(compiled, [&](const FormulaRef& f) { return Formulas::value(f, values); });
    };
    const loops::Nest first = with({24, 40}).nest;
    const loops::CudaSchedule schedule = cuda_schedule(first, {});
    const std::string text = cuda_source(first, schedule, "kernel").text;
    for (const std::vector<int64_t>& sizes : all_sizes) {
      asked++;
      if (!conditions.hold_for(sizes)) continue;
      Substitution numbers({Dim(sizes[0]), Dim(sizes[1])});
      Specialisation specialise(trace.store, numbers);
      loops::CudaTextKey key;
      const std::string alone = text_of(loops::with_sizes<int64_t>(lowered_of(*specialise(&line), specialise.store()),
                                                                   [](const Size& s) { return s.value(); }), key);
      const loops::Nest nest = with(sizes).nest;
      EXPECT_EQ(text_key(nest, cuda_schedule(nest, {})), key) << sizes[0] << " " << sizes[1];
      if (key != text_key(first, schedule)) continue;
      held++;
      EXPECT_EQ(text + parameters_of(nest), alone) << sizes[0] << " " << sizes[1];
    }
  }

  template <class F>
  void for_each_region(const F& f) {
    size_t regions = 0;
    for (int program = 0; program < 60; program++) {
      std::vector<Var> values = {input({n, m}), input({n, m})};
      for (uint32_t i = 0; i < 3 + pick(5); i++) values.push_back(step(values));
      const Trace trace = claim_lines({values.back(), values[pick(static_cast<uint32_t>(values.size()))]});
      for (const Node* line : trace.nodes)
        if (line->executor == std::string_view("fusion") && !def(*line).view) f(trace, *line), regions++;
      lines().clear(), maker.trace.inputs.clear();
    }
    EXPECT_GT(regions, 60u);
  }
};

TEST_F(RegionsOfAClass, have_the_kernels_that_are_made_for_each_size) {
  for_each_region([this](const Trace& trace, const Node& line) { compare(trace, line); });
  EXPECT_GT(held * 4, asked) << "sizes of the class: " << held << " of " << asked;
}

TEST_F(RegionsOfAClass, have_the_cuda_texts_that_are_written_for_each_size) {
  for_each_region([this](const Trace& trace, const Node& line) { compare_texts(trace, line); });
  EXPECT_GT(held * 4, asked) << "sizes of the class: " << held << " of " << asked;
}

}  // namespace
}  // namespace thunder::fusion
