// What collectives are made of. Along an axis a value is replicated (the same on all ranks) or varying (of each rank's
// own). All of them take varying values; all_reduce and broadcast give replicated ones. A replicated value that is
// used as a varying one passes prims.pvary, whose gradient is the sum over the ranks: no other rule has a factor of the
// number of ranks, or needs one.
#include <set>

#include "ops/batch.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/tables.h"
#include "ops/world_collectives.h"

namespace thunder {
namespace {

int64_t check_axis(const Call& c, size_t at) {
  const int64_t ranks = c.integer(at);
  c.require(ranks > 0, c.op.schema.params[at].name, " must be positive, got ", ranks);
  return ranks;
}

void check_reduction(const Call& c, DType dtype) {
  const std::string_view reduction = c.text(3);
  c.require(reduction == "sum" || reduction == "max" || reduction == "min",
            "reduction must be 'sum', 'max' or 'min', got '", reduction, "'");
  c.require(!is_half(dtype), "input is ", name(dtype), "; 16-bit floats are reduced as f32");
  c.require(dtype != DType::boolean || reduction != "sum", "booleans have no sum; reduction may be 'max' or 'min'");
}

void require_rank(const Call& c) {
  c.require(c.type(0).rank() > 0, "input must have a dim, got ", name(c.type(0)));
}

void reduce_meta(const Call& c, Types& out) {
  check_axis(c, 2), check_reduction(c, c.type(0).dtype);
  out.push(c.type(0));
}
void scatter_meta(const Call& c, Types& out) {
  const int64_t ranks = check_axis(c, 2);
  check_reduction(c, c.type(0).dtype), require_rank(c);
  TensorType t = c.type(0);
  const Dim n = t.shape[0];
  c.require(hint(n % Dim(ranks)) == 0, "the first dim of input, ", name(t), ", cannot be divided among ", ranks,
            " ranks; pad it");
  t.shape[0] = n / Dim(ranks);
  out.push(t);
}
void gather_meta(const Call& c, Types& out) {
  const int64_t ranks = check_axis(c, 2);
  require_rank(c);
  TensorType t = c.type(0);
  t.shape[0] = t.shape[0] * Dim(ranks);
  out.push(t);
}
void broadcast_meta(const Call& c, Types& out) {
  const int64_t ranks = check_axis(c, 2), root = c.integer(3);
  c.require(root >= 0 && root < ranks, "root must be a rank of axis '", c.text(1), "', from 0 to ", ranks - 1, ", got ",
            root);
  out.push(c.type(0));
}
void same_type(const Call& c, Types& out) {
  check_axis(c, 2);
  out.push(c.type(0));
}
void all_to_all_meta(const Call& c, Types& out) {
  const int64_t ranks = check_axis(c, 2);
  require_rank(c);
  c.require(hint(c.type(0).shape[0] % Dim(ranks)) == 0, "the first dim of input, ", name(c.type(0)),
            ", cannot be divided among ", ranks, " ranks; pad it");
  out.push(c.type(0));
}
void check_passing(const Call& c, size_t at, int64_t ranks) {
  std::set<int64_t> named;  // not a flag for each rank: how many there are is the caller's number
  for (const Dim rank : c.dims(at)) {
    const int64_t r = hint(rank);
    const std::string_view what = c.op.schema.params[at].name;
    c.require(r >= 0 && r < ranks, what, " must be ranks of axis '", c.text(1), "', from 0 to ", ranks - 1,
              ", got ", r);
    c.require(named.insert(r).second, what, " name rank ", r, " twice");
  }
}
void ppermute_meta(const Call& c, Types& out) {
  const int64_t ranks = check_axis(c, 2);
  c.require(c.dims(3).size() == c.dims(4).size(), "each of sources sends to one of targets, got ", c.dims(3).size(),
            " and ", c.dims(4).size());
  check_passing(c, 3, ranks), check_passing(c, 4, ranks);
  out.push(c.type(0));
}

void wait_meta(const Call& c, Types& out) {
  out.push(c.type(0));
}

void require_sum(const Grad& g) {
  g.require(g.text(3) == "sum", "the ", g.text(3), " over ranks has no gradient; reduction may be 'sum' or 'mean'");
}

Var axis_index(Builder& b, In axis) {
  return b.call(Prim::axis_index, {axis});
}

// The op on the operand with its batch behind the dim that the ranks share.
Results behind_first_dim(Batch& b) {
  Var x = b.builder.call("transpose", {b.operand(0), 0, 1});
  std::vector<Arg> args(b.args.begin(), b.args.end());
  args[0] = Arg::value(x.id);
  Var y = b.builder.var(b.builder.invoke(b.op, args)[0]);
  return b.builder.call("transpose", {y, 0, 1});
}
Results with_batch(Batch& b) {
  std::vector<Arg> args(b.args.begin(), b.args.end());
  args[0] = Arg::value(b.operand(0).id);
  return b.builder.invoke(b.op, args);
}

// A kernel that waits for other ranks may fail; nothing is stored before.
constexpr uint32_t kTags = kChecksData | kOwnRules | kAnyElement;

using Kind = RankRule::Kind;
using Result = RankRule::Result;
constexpr RankRule kAllReduce{
    .kind = Kind::collective, .result = Result::replicated, .what = Collective::all_reduce, .reduction = 3};
constexpr RankRule kAllGather{
    .kind = Kind::collective, .result = Result::varies, .what = Collective::all_gather, .unit = 4, .more = 5};
constexpr RankRule kReduceScatter{.kind = Kind::collective,
                                  .result = Result::varies,
                                  .what = Collective::reduce_scatter,
                                  .reduction = 3,
                                  .unit = 4,
                                  .more = 5};
constexpr RankRule kBroadcast{
    .kind = Kind::collective, .result = Result::replicated, .what = Collective::broadcast, .root = 3};
constexpr RankRule kAllToAll{.kind = Kind::collective, .result = Result::varies, .what = Collective::all_to_all};
constexpr RankRule kPpermute{.kind = Kind::collective,
                             .result = Result::varies,
                             .what = Collective::ppermute,
                             .sources = 3,
                             .targets = 4,
                             .ordered = true};
constexpr RankRule kBarrier{
    .kind = Kind::collective, .result = Result::as_operand, .what = Collective::barrier, .ordered = true};
constexpr RankRule kAxisIndex{.kind = Kind::axis_index, .result = Result::varies, .axis = 0};
constexpr RankRule kWait{.kind = Kind::wait, .result = Result::as_operand};
constexpr RankRule kShard{.kind = Kind::shard, .result = Result::varies};
constexpr RankRule kPvary{.kind = Kind::pvary, .result = Result::varies};

constexpr OpRow kRows[] = {
    primitive("prims.all_reduce(tensor input, str axis, int ranks, str reduction) -> tensor",
              "The sum, max or min over the ranks of an axis, on each of them.", reduce_meta, run_collective,
              [](Grad& g) { require_sum(g), g.add(0, g.cotangent()); }, kTags,
              {.batch = with_batch, .ranks = &kAllReduce}),
    primitive("prims.all_gather(tensor input, str axis, int ranks, bool reshard=False, int unit=0, bool more=False) -> "
              "tensor",
              "The operands of all ranks of an axis, joined along the first dim in the order of ranks. With reshard it "
              "is made again where it is read much later, rather than kept. Those of a unit of parameters, which has a "
              "number, begin together: with more it waits for the next one.",
              gather_meta, run_collective,
              [](Grad& g) {
                Var dy = g.cotangent(), wide = convert(dy, compute_dtype(dy.dtype()));
                g.add(0, g.builder.call(Prim::reduce_scatter, {wide, g.args[1], g.args[2], "sum", g.args[4]}));
              },
              kTags, {.batch = behind_first_dim, .ranks = &kAllGather}),
    primitive("prims.reduce_scatter(tensor input, str axis, int ranks, str reduction, int unit=0, bool more=False) -> "
              "tensor",
              "Each rank's part, along the first dim, of the reduction over the ranks of an axis. Those of a unit of "
              "parameters begin together.",
              scatter_meta, run_collective,
              [](Grad& g) {
                require_sum(g);
                g.add(0, g.builder.call(Prim::all_gather, {g.cotangent(), g.args[1], g.args[2], false}));
              },
              kTags, {.batch = behind_first_dim, .ranks = &kReduceScatter}),
    primitive("prims.broadcast(tensor input, str axis, int ranks, int root) -> tensor",
              "The operand of one rank of an axis, on each of them.", broadcast_meta, run_collective,
              [](Grad& g) {
                g.add(0, where(eq(axis_index(g.builder, g.args[1]), g.args[3]), g.cotangent(),
                               full_like(g.cotangent(), 0)));
              },
              kTags, {.batch = with_batch, .ranks = &kBroadcast}),
    primitive("prims.all_to_all(tensor input, str axis, int ranks) -> tensor",
              "The parts of the operands, along the first dim, that the ranks of an axis have for this one, in the "
              "order of ranks.",
              all_to_all_meta, run_collective,
              [](Grad& g) { g.add(0, g.builder.call(Prim::all_to_all, {g.cotangent(), g.args[1], g.args[2]})); },
              kTags, {.batch = behind_first_dim, .ranks = &kAllToAll}),
    primitive("prims.ppermute(tensor input, str axis, int ranks, int[] sources, int[] targets) -> tensor",
              "The operand of the rank that sends to this one, or zeros: each of sources sends to the rank at its "
              "place in targets.",
              ppermute_meta, run_collective,
              [](Grad& g) {
                g.add(0, g.builder.call(Prim::ppermute,
                                        {g.cotangent(), g.args[1], g.args[2], g.args[4], g.args[3]}));
              },
              kTags, {.batch = with_batch, .ranks = &kPpermute}),
    primitive("prims.barrier(tensor input, str axis, int ranks) -> tensor",
              "The operand, once all ranks of an axis are here.", same_type, run_collective,
              [](Grad& g) { g.add(0, g.cotangent()); }, kTags, {.batch = with_batch, .ranks = &kBarrier}),
    primitive("prims.axis_index(str axis) -> tensor", "The number of this rank along an axis, an i64.",
              [](const Call&, Types& out) {
                TensorType t;
                t.dtype = DType::i64;
                out.push(t);
              },
              run_axis_index, nullptr, kTags, {.nondiff = "it has no operands", .ranks = &kAxisIndex}),
    // Made of claimed lines alone. The operand is an argument so that it stays until then.
    primitive("prims.wait(tensor started, tensor operand, bool done) -> tensor",
              "The result of a collective, which its line has started: what reads it comes after it. With done the "
              "host waits, too, for it and all that came before; nothing is stored earlier.",
              wait_meta, run_wait, nullptr, kSameMemory | kOwnRules | kAnyElement | kHidden,
              {.nondiff = "it is made of lines whose gradients were taken", .ranks = &kWait}),
    checked({.schema = "prims.shard(tensor input, str axis, int ranks) -> tensor",
             .doc = "A view of what this rank has of a tensor of which the ranks of an axis have a part each: it "
                    "differs from rank to rank.",
             .meta = same_type,
             .reference = copy_dense,
             .vjp = [](Grad& g) { g.add(0, g.cotangent()); },
             .batch = with_batch,
             .view = {same_view, same_view},
             .write_through = [](Call&, ValueId, ValueId written) { return written; },
             .tags = kOwnRules | kAnyElement,
             .ranks = &kShard}),
    checked({.schema = "prims.pvary(tensor input, str axis, int ranks) -> tensor",
             .doc = "A view of a value that all ranks of an axis have in common, as a value of each rank's own.",
             .meta = same_type,
             .reference = copy_dense,
             .vjp =
                 [](Grad& g) {
                   Var dy = g.cotangent(), wide = convert(dy, compute_dtype(dy.dtype()));
                   g.add(0, g.builder.call(Prim::all_reduce, {wide, g.args[1], g.args[2], "sum"}));
                 },
             .batch = with_batch,
             .view = {same_view, same_view},
             .write_through = [](Call&, ValueId, ValueId written) { return written; },
             .tags = kOwnRules | kAnyElement,
             .ranks = &kPvary}),
};

}  // namespace

extern const OpRows world_prims_ops = kRows;

}  // namespace thunder
