// What layers, and programs of other sizes, share of claiming.
// covers: core/executors/fusion/laid_out_regions.cpp
#include "executors/fusion/structural_hash.h"

#include <thread>

#include "core/executors/fusion/support.h"
#include "executors/fusion/laid_out_regions.h"
#include "tracer/compile_settings.h"

namespace thunder::fusion {
namespace {

struct StructuralHash_ : LinesTest {};

// Layers that are alike ask once.
TEST_F(StructuralHash_, does_not_depend_on_how_values_are_numbered) {
  const auto lines = [&](int64_t rows, double scale) {
    Var x = input({rows, 8});
    return maker.finish({prim(
        "prims.neg", {prim("prims.mul", {x, prim("prims.full", {Shape{rows, 8}, scale, DType::f32, Device::cpu})})})});
  };
  const auto of = [&](const Trace& t) { return structural_hash(t.nodes, store(), capabilities()); };
  const Trace first = lines(4, 2), second = lines(4, 2);
  const size_t before = first.nodes.size();
  ASSERT_EQ(second.nodes.size(), 2 * before);  // the maker's lines go on
  const auto part = [&](size_t from) {
    return structural_hash(std::span(second.nodes).subspan(from, before), store(), capabilities());
  };
  EXPECT_EQ(part(0), part(before));
  EXPECT_EQ(of(first), part(0));
  Capabilities fewer = capabilities();
  fewer.max_nodes = 1;
  EXPECT_NE(structural_hash(first.nodes, store(), fewer), of(first));
  const Trace other = lines(5, 2), scaled = lines(5, 3);
  EXPECT_NE(structural_hash(std::span(other.nodes).subspan(2 * before), store(), capabilities()), part(0));
  EXPECT_NE(structural_hash(std::span(scaled.nodes).subspan(3 * before), store(), capabilities()),
            structural_hash(std::span(other.nodes).subspan(2 * before), store(), capabilities()));
}

struct Lines : LinesTest {
  void TestBody() override {}
};

StructuralHash of_rows(int64_t rows, double scale = 2) {
  Lines of;
  Var x = of.prim("prims.pad", {of.prim("prims.exp", {of.input({rows, 7})}), Shape{0, 1}, Shape{0, 0}, scale});
  const Trace t = of.maker.finish({of.prim("prims.neg", {of.prim("prims.reshape", {x, Shape{rows * 8}})})});
  return hash_for_any_size(t.nodes, of.store(), capabilities());
}

TEST_F(StructuralHash_, for_any_size_is_equal_for_sizes_with_equal_relations) {
  EXPECT_EQ(of_rows(34), of_rows(38));
  EXPECT_EQ(of_rows(34), of_rows(38, 3));  // no group looks at a number
  EXPECT_NE(of_rows(34), of_rows(40));     // which 8 divides
  EXPECT_NE(of_rows(34), of_rows(4098));   // a large operand
  EXPECT_NE(of_rows(4), of_rows(6));       // small ones are themselves
}

// Lines as a transformer has them, forward and backward.
std::string block(int64_t length) {
  Lines of;
  const int64_t width = 24;
  Var x = of.input({2, length, width}), w = of.input({width}), g = of.input({2, length, width});
  Var normed = of.maker.call("layer_norm", {x, Shape{width}, w, w});
  Var heads = of.prim("prims.permute", {of.prim("prims.reshape", {normed, Shape{2, length, 4, width / 4}}), Shape{0, 2, 1, 3}});
  Var scores = of.prim("prims.matmul", {heads, of.prim("prims.permute", {heads, Shape{0, 1, 3, 2}})});
  Var weights = of.maker.call("softmax", {scores, -1});
  Var flat = of.prim("prims.reshape", {of.prim("prims.mul", {of.maker.call("gelu", {x}), g}), Shape{2 * length, width}});
  Var columns = of.prim("prims.sum", {flat, Shape{0}}), all = of.prim("prims.sum", {of.prim("prims.exp", {flat}), Shape{0, 1}});
  Var joined = of.prim("prims.neg", {of.prim("prims.cat", {ValueList{x.id, g.id, x.id}, 1})});
  return of.claimed({weights, columns, all, joined, of.prim("prims.amax", {flat, Shape{1}})});
}

// Whatever sizes came before, the answers of a thread that has none yet.
TEST_F(StructuralHash_, for_any_size_changes_no_kernel) {
  if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;
  std::vector<int64_t> lengths;
  for (int64_t length = 2; length < 100; length++) lengths.push_back(length);
  for (const int64_t length : {128, 192, 255, 256, 257, 341, 342, 512, 768, 4096}) lengths.push_back(length);
  for (const int64_t length : lengths) {
    std::string fresh;
    std::thread([&] { fresh = block(length); }).join();
    EXPECT_EQ(block(length), fresh) << length;
  }
}

struct LaidOut : FusedTest {
  Body layers = [](Scope& s, std::span<Tensor* const> in) {
    Tensor* x = in[0];
    for (size_t layer = 1; layer < in.size(); layer++)
      x = call(s, "matmul", {arg(call(s, "softmax", {arg(x), arg(int64_t{1})})), arg(in[layer])});
    return std::vector<Tensor*>{x};
  };
  Tensors in{numbers({9, 9}), numbers({9, 9}), numbers({9, 9}), numbers({9, 9})};
};

TEST_F(LaidOut, regions_are_shared_by_equal_layers_and_match_the_reference) {
  agree(layers, in, 1);
  auto f = compile(lambda(layers), only("fusion").get());
  Values given;
  for (auto& t : in) given.push(Any::tensor(t.get()));
  ASSERT_EQ(f->prepare(given), nullptr);
  const Trace last = f->reports().traces().back();
  std::vector<const Node*> kernels;
  for (const Node* n : last.nodes)
    if (!n->body.empty()) kernels.push_back(n);
  ASSERT_EQ(kernels.size(), 3u);
  const std::vector<int64_t> sizes = {9, 9}, dense = {9, 1}, transposed = {1, 9};
  const Target& target = *targets().find(Device::cpu);
  const auto hash = [&](const Node& n, const std::vector<int64_t>& strides) {
    Buffer b;
    b.shape = sizes.data(), b.strides = strides.data(), b.rank = 2, b.dtype = DType::f32;
    return laid_out_hash({n, *last.store, default_settings(), {&b, 1}, {&b, 1}}, nodes_of(n), target);
  };
  EXPECT_EQ(hash(*kernels[0], dense), hash(*kernels[2], dense));
  EXPECT_NE(hash(*kernels[0], dense), hash(*kernels[2], transposed));
}

TEST(LaidOutRegions_, are_forgotten_with_the_last_program_that_has_them) {
  LaidOutRegions regions;
  auto region = std::make_shared<LaidOutRegion>();
  regions.add({1, 2}, region);
  EXPECT_EQ(regions.find({1, 2}), region);
  EXPECT_EQ(regions.find({1, 3}), nullptr);
  region.reset();
  EXPECT_EQ(regions.find({1, 2}), nullptr);
}

TEST(LaidOutRegions_, answers_of_fits_are_kept_apart_by_structure) {
  FitAnswers answers;
  answers.add({1, 2}, true), answers.add({1, 3}, false);
  ASSERT_NE(answers.find({1, 2}), nullptr);
  EXPECT_TRUE(*answers.find({1, 2}));
  EXPECT_FALSE(*answers.find({1, 3}));
  EXPECT_EQ(answers.find({2, 2}), nullptr);
}

}  // namespace
}  // namespace thunder::fusion
