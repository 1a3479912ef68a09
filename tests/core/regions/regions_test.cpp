// Which lines may run as one, where they then stand, and that looking for them takes linear time.
// covers: core/executors/host/host.cpp core/regions/forming.cpp
#include "regions/regions.h"

#include "executors/host/host.h"
#include "ir/verify.h"
#include "support/functions.h"
#include "support/pieces.h"
#include "support/regions.h"
#include "support/traces.h"

namespace thunder::test {
namespace {

using tests::TraceMaker;

struct Regions : testing::Test {
  TraceMaker maker;
  Pieces choice;
  std::vector<size_t> kept;  // of each region whose executor kept a state: how many lines that is of

  // The ops of the claimed lines; a region as the number of its lines.
  std::vector<std::string> claimed(std::initializer_list<Var> outputs) {
    const Executors executors = {pieces_executor(choice), make<Executor>(host_executor())};
    RegionStates states;
    const Trace trace =
        in_regions(maker.finish(outputs), executors, maker.registry.get("region"), states);
    verify(trace);
    std::vector<std::string> out;
    kept = {};
    for (const Node* n : trace.nodes)
      if (const RegionState state = states[n]) {
        const auto& of = *static_cast<const pieces::Lines*>(state.get());
        EXPECT_TRUE(std::equal(of.begin(), of.end(), n->body.begin(), n->body.end()));
        kept.push_back(of.size());
      }
    for (const Node* n : trace.nodes)
      out.push_back(n->body.empty() ? std::string(n->op->name()) : std::to_string(n->body.size()) + " lines");
    return out;
  }
  Var prim(std::string_view op, std::initializer_list<In> args) { return maker.call(op, args); }
};
using Lines = std::vector<std::string>;

TEST_F(Regions, skip_over_independent_nodes) {
  Var x = maker.input("x", {2, 2});
  Var a = prim("prims.neg", {x}), m = prim("prims.matmul", {x, x}), b = prim("prims.abs", {a});
  EXPECT_EQ(claimed({m, b}), (Lines{"prims.matmul", "2 lines"}));
}

TEST_F(Regions, include_producers_between_their_nodes) {
  Var x = maker.input("x", {2, 2});
  Var a = prim("prims.neg", {x}), m = prim("prims.matmul", {x, x}), b = prim("prims.add", {a, m});
  EXPECT_EQ(claimed({b}), (Lines{"prims.matmul", "2 lines"}));
}

TEST_F(Regions, precede_their_consumers) {
  Var x = maker.input("x", {2, 2});
  Var a = prim("prims.neg", {x}), m = prim("prims.matmul", {a, a}), b = prim("prims.abs", {x});
  EXPECT_EQ(claimed({m, b}), (Lines{"2 lines", "prims.matmul"}));
}

TEST_F(Regions, exclude_nodes_on_a_path_that_leaves_and_returns) {
  Var x = maker.input("x", {2, 2});
  Var a = prim("prims.neg", {x}), m = prim("prims.matmul", {a, a}), b = prim("prims.abs", {x}),
      c = prim("prims.add", {m, b}), d = prim("prims.neg", {c});
  EXPECT_EQ(claimed({d}), (Lines{"prims.neg", "prims.matmul", "3 lines"}));
}

TEST_F(Regions, exclude_nodes_that_depend_on_a_node_the_executor_left_out) {
  choice.takes = [](const Node& n) { return n.op->name() != "prims.abs"; };
  Var x = maker.input("x", {2});
  Var a = prim("prims.tanh", {x}), b = prim("prims.abs", {a}), c = prim("prims.sign", {b}), d = prim("prims.sin", {a});
  EXPECT_EQ(claimed({c, d}), (Lines{"2 lines", "2 lines"}));
}

// What the executor found out about lines when it claimed them is for prepare, if the region is just these lines.
TEST_F(Regions, keep_the_executors_state_if_all_claimed_nodes_remain) {
  Var x = maker.input("x", {2, 2});
  Var a = prim("prims.neg", {x}), m = prim("prims.matmul", {a, a}), b = prim("prims.abs", {x}),
      c = prim("prims.add", {m, b}), d = prim("prims.neg", {c});
  EXPECT_EQ(claimed({d}), (Lines{"prims.neg", "prims.matmul", "3 lines"}));
  EXPECT_EQ(kept, std::vector<size_t>{3});
}

TEST_F(Regions, drop_the_executors_state_if_nodes_were_excluded) {
  choice.takes = [](const Node& n) { return n.op->name() != "prims.abs"; };
  Var x = maker.input("x", {2});
  Var a = prim("prims.tanh", {x}), b = prim("prims.abs", {a}), c = prim("prims.sign", {b}), d = prim("prims.sin", {a});
  EXPECT_EQ(claimed({c, d}), (Lines{"2 lines", "2 lines"}));
  EXPECT_EQ(kept, std::vector<size_t>{2});
}

TEST_F(Regions, begin_only_at_nodes_that_the_executor_accepts) {
  ExecutorDesc particular = pieces_executor(choice)->desc();
  particular.begins_region = [](const Node& n) { return n.op->name() != "prims.neg"; };
  Var x = maker.input("x", {2});
  Var a = prim("prims.neg", {x}), b = prim("prims.abs", {a}), c = prim("prims.sign", {b});
  const Ref<Executor> executor = make<Executor>(particular);
  Trace trace = claimed_by(*executor, maker.finish({c}));
  RegionStates states;
  form_regions(trace, {executor}, maker.registry.get("region"), states);
  ASSERT_EQ(trace.nodes.size(), 2u);
  EXPECT_EQ(trace.nodes[0]->op->name(), "prims.neg");
  EXPECT_EQ(trace.nodes[1]->body.size(), 2u);
}

TEST_F(Regions, return_only_values_that_are_read_outside) {
  Var x = maker.input("x", {2});
  Var a = prim("prims.neg", {x}), b = prim("prims.abs", {a}), c = prim("prims.sign", {b});
  const Ref<Executor> executor = pieces_executor(choice);
  Trace trace = claimed_by(*executor, maker.finish({a, c}));
  RegionStates states;
  form_regions(trace, {executor}, maker.registry.get("region"), states);
  ASSERT_EQ(trace.nodes.size(), 1u);
  EXPECT_EQ(std::vector<ValueId>(trace.nodes[0]->results.begin(), trace.nodes[0]->results.end()),
            (std::vector<ValueId>{a.id, c.id}));
  EXPECT_EQ(trace.nodes[0]->args[0].value_list()[0], x.id);
}

// As a result the spread value would take memory and time for each of its repetitions.
TEST_F(Regions, duplicate_views_that_are_read_inside_and_outside) {
  Var x = maker.input("x", {3}), y = maker.input("y", {2, 3});
  Var a = prim("prims.neg", {x}), v = prim("prims.expand", {a, Shape{2, 3}}),
      w = prim("prims.permute", {v, Shape{1, 0}});
  Var b = prim("prims.add", {v, y}), c = prim("prims.neg", {w});
  const Ref<Executor> executor = pieces_executor(choice);
  Trace trace = claimed_by(*executor, maker.finish({w, b, c}));
  RegionStates states;
  form_regions(trace, {executor}, maker.registry.get("region"), states);
  verify(trace);
  ASSERT_EQ(trace.nodes.size(), 3u);
  EXPECT_EQ(std::vector<ValueId>(trace.nodes[0]->results.begin(), trace.nodes[0]->results.end()),
            (std::vector<ValueId>{a.id, b.id, c.id}));
  EXPECT_EQ(trace.nodes[1]->results[0], v.id);
  EXPECT_EQ(trace.nodes[2]->results[0], w.id);
}

// Storing it would cost a write and a read.
TEST_F(Regions, recompute_cheap_values_before_their_first_reader) {
  Var x = maker.input("x", {8, 8}), y = maker.input("y", {8, 8});
  Var a = prim("prims.tanh", {x}), b = prim("prims.mul", {a, y}), c = prim("prims.sin", {b}),
      m = prim("prims.matmul", {c, c});
  Var d = prim("prims.add", {b, m}), e = prim("prims.exp", {d});
  EXPECT_EQ(claimed({e, a}), (Lines{"3 lines", "prims.matmul", "3 lines"}));
}

TEST_F(Regions, recompute_cheap_values_for_each_reader) {
  Var x = maker.input("x", {8, 8}), y = maker.input("y", {8, 8});
  Var a = prim("prims.sub", {x, y}), b = prim("prims.sin", {a}), m = prim("prims.matmul", {b, b});
  Var c = prim("prims.exp", {prim("prims.add", {a, m})}), n = prim("prims.matmul", {c, c});
  Var d = prim("prims.exp", {prim("prims.add", {a, n})});
  EXPECT_EQ(claimed({d}), (Lines{"2 lines", "prims.matmul", "3 lines", "prims.matmul", "3 lines"}));
}

TEST_F(Regions, store_expensive_values_and_values_read_from_memory) {
  Var x = maker.input("x", {8, 8});
  Var a = prim("prims.tanh", {x}), b = prim("prims.mul", {a, a}), c = prim("prims.sin", {b}),
      m = prim("prims.matmul", {c, b});
  Var d = prim("prims.add", {c, m}), e = prim("prims.sub", {d, b});
  EXPECT_EQ(claimed({e}), (Lines{"3 lines", "prims.matmul", "2 lines"}));
}

// As a region of all lines is accepted, and would be declined without this one.
TEST_F(Regions, store_cheap_values_if_the_rest_is_no_region_without_them) {
  choice.fits = [](std::span<const Node* const> nodes) {
    return std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return n->op->name() == "prims.sub"; });
  };
  Var x = maker.input("x", {8, 8}), y = maker.input("y", {8, 8});
  Var a = prim("prims.sub", {x, y}), b = prim("prims.sin", {x}), c = prim("prims.cos", {b}),
      e = prim("prims.add", {c, x});
  Var m = prim("prims.matmul", {e, e}), d = prim("prims.exp", {prim("prims.add", {a, m})});
  EXPECT_EQ(claimed({d}), (Lines{"4 lines", "prims.matmul", "2 lines"}));
  EXPECT_EQ(kept, (std::vector<size_t>{4, 2}));  // of the four as they were before
  choice.fits = nullptr;
  EXPECT_EQ(claimed({d}), (Lines{"3 lines", "prims.matmul", "3 lines"}));
  EXPECT_EQ(kept, std::vector<size_t>{3});
}

// What was read by lines alone that went to another region, and reads nothing of this one, may not fit its loops.
TEST_F(Regions, leave_lines_out_that_nothing_in_the_rest_needs) {
  choice.fits = [](std::span<const Node* const> nodes) {
    return std::none_of(nodes.begin(), nodes.end(), [&](const Node* n) { return n->op->name() == "prims.tanh" && nodes.size() < 4; });
  };
  Var x = maker.input("x", {8, 8}), y = maker.input("y", {8, 8}), few = maker.input("few", {8});
  Var a = prim("prims.tanh", {few}), spread = prim("prims.expand", {prim("prims.reshape", {a, Shape{1, 8}}), Shape{8, 8}});
  Var b = prim("prims.sub", {x, spread}), c = prim("prims.sin", {x}), e = prim("prims.add", {c, x});
  Var m = prim("prims.matmul", {e, y}), d = prim("prims.exp", {prim("prims.add", {b, m})});
  EXPECT_EQ(claimed({d}), (Lines{"2 lines", "prims.matmul", "6 lines"}));
}

// Its reader never takes it in: the line must not be looked at for ever.
TEST_F(Regions, bound_how_often_a_node_is_recomputed) {
  choice.takes = [](const Node& n) { return n.op->name() != "prims.sin"; };
  Var x = maker.input("x", {8, 8});
  Var a = prim("prims.neg", {x}), b = prim("prims.abs", {a}), c = prim("prims.sin", {b});
  EXPECT_EQ(claimed({c}), (Lines{"2 lines", "prims.sin"}));
}

// They have nothing else in common, and what one waits for must not hold up the others.
TEST_F(Regions, are_not_connected_by_a_shared_broadcast) {
  Var rate = maker.input("rate", {}), p = maker.input("p", {2, 2}), q = maker.input("q", {4, 4});
  Var a = prim("prims.mul", {p, prim("prims.expand", {rate, Shape{2, 2}})});
  Var b = prim("prims.mul", {q, prim("prims.expand", {rate, Shape{4, 4}})}), m = prim("prims.matmul", {b, b});
  Var tied = prim("prims.expand", {prim("prims.sum", {m, Shape{0, 1}}), Shape{2, 2}});
  Var c = prim("prims.add", {a, tied}), d = prim("prims.neg", {c});
  EXPECT_EQ(claimed({d, b}),
            (Lines{"prims.expand", "prims.expand", "prims.mul", "prims.matmul", "prims.sum", "4 lines"}));
}

TEST_F(Regions, are_not_connected_by_a_value_that_was_broadcast_before) {
  choice.takes = [](const Node&) { return false; };
  Var rate = maker.input("rate", {}), p = maker.input("p", {2, 2}), q = maker.input("q", {2, 2}),
      spread = prim("prims.expand", {rate, Shape{2, 2}});
  Var a = prim("prims.neg", {prim("prims.mul", {p, spread})}), b = prim("prims.neg", {prim("prims.mul", {q, spread})});
  claimed({a, b});
  EXPECT_EQ(choice.offered, (std::vector<size_t>{5, 2, 2})) << "from the view on, and of each of the chains behind it";
}

TEST_F(Regions, take_time_linear_in_the_trace) {
  constexpr size_t kLines = 20'000;
  choice.takes = [](const Node&) { return false; };
  Var x = maker.input("x", {2});
  for (size_t i = 0; i < kLines; i++) x = prim("prims.neg", {x});
  EXPECT_EQ(claimed({x}).size(), kLines);
  size_t looked_at = 0;
  for (size_t n : choice.offered) looked_at += n;
  EXPECT_LE(looked_at, 256 * kLines);
}

}  // namespace
}  // namespace thunder::test
