// How an operation is declared: once, here, and everything else follows (C, Lua, bindings, docs, tests).
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "ir/trace.h"
#include "tensor/buffer.h"

namespace thunder {

class Call;     // an operation being built: its arguments and the builder (ops/builder.h)
class Grad;     // an operation being differentiated (ops/grad.h)
class Batch;    // an operation being batched (ops/batch.h)
class Samples;  // inputs that tests draw (ops/samples.h)
class ThreadPool;
namespace kernels {
class DeviceKernel;  // how another device than the CPU runs an op (executors/cuda/kernels/device_kernel.h)
}
struct OpDef;
struct RankRule;  // what an op makes of the ranks of an axis (ops/world_collectives.h)
using Results = SmallVector<ValueId, 4>;

// Result types of a prim: at most four.
struct Types {
  std::array<TensorType, 4> at;
  size_t count = 0;
  void push(const TensorType& t) { at[count++] = t; }
};

// A reference kernel's view of its call: inputs in schema order with lists flattened and absent ones of rank -1;
// args hold everything that is not a tensor. Outputs may be strided, and may be one of the inputs when the op is
// elementwise. Returns null or an owned status; never throws, never allocates tensors. What built-in kernels have no
// use for may be null: the op, for kernels that serve several, and the threads of the context.
struct KernelArgs {
  std::span<const Buffer> in;
  std::span<const Buffer> out;
  std::span<const Arg> args;
  const OpDef* op = nullptr;
  ThreadPool* threads = nullptr;
};

// Where a view prim's result lies in the memory of its first input, in numbers or in formulas of symbols.
template <class Size>
struct ViewAt {
  SmallVector<Size, 6> strides;  // in: the input's; out: the result's (elements)
  Size offset = 0;               // out: elements from the input's first element
};
using ViewOf = ViewAt<int64_t>;

using MetaFn = void (*)(const Call&, Types&);
using DecomposeFn = Results (*)(Call&);
using VjpFn = void (*)(Grad&);
using BatchFn = Results (*)(Batch&);
using KernelFn = Status* (*)(const KernelArgs&);
// False: these strides need a copy.
template <class Size>
using ViewFn = bool (*)(std::span<const Size> in_sizes, std::span<const Arg> args, std::span<const Size> out_sizes,
                        ViewAt<Size>&);
// One template, for both kinds of sizes. What it decides of symbols it asks is_equal and its like, which note it.
struct ViewRule {
  ViewFn<int64_t> numbers = nullptr;
  ViewFn<Dim> symbols = nullptr;
  constexpr explicit operator bool() const { return numbers != nullptr; }
};
using WriteThroughFn = ValueId (*)(Call& view, ValueId base, ValueId written);
using SamplesFn = void (*)(Samples&);
using MultiplyAddsFn = double (*)(const TensorType& left, const TensorType& right, const TensorType& result);

enum OpTag : uint32_t {
  kElementwise = 1,  // out[i] depends on in[i] only: the result may take an input's memory
  kRandom = 2,       // draws from the random state
  kInplace = 4,      // has an in-place form NAME_ that writes the result into the first argument
  kReduction = 8,
  kMatmul = 16,
  kChecksData = 64,       // its kernel may refuse data (an index out of range): no store may come before it
  kChecksIntegers = 128,  // the same, but only when it works on integers (division by zero)
  kUpdates = 512,  // gives its first operand with some elements changed: runs in that memory too, and writes nothing if
                   // it refuses
  kCheap = 256,    // elementwise, in about one instruction an element: cheaper made twice than stored and read
  kLinear =
      1024,  // a prim that is linear in all its real operands together: its derivative along tangents is itself of them
  kEager = 2048,   // reads values, for some arguments or all, on which its results' shapes depend: not compiled then
  kCounts = 4096,  // its numbers say how long its result is: no tensor takes their place, and what it is made of holds
                   // for any of them
  kAnyElement = 8192,  // its kernel only moves elements, or knows each type by itself: none are widened for it
  kOwnRules = 16384,   // its rules are a caller's, or a program's: they may do more than compute, and run once a line
  kSameMemory = 32768,  // gives its first operand itself, which from then on may be read: it lies where that lies
  kHidden = 32,        // not offered to users (grad nodes, backward composites keep their lines but no binding)
  // Of composites whose results share memory with their inputs, as PyTorch promises; view prims say it by `view`. The
  // results of all other ops are new, and where a decomposition gives what it was given, scopes copy it.
  kMayView = 65536,  // in the memory of what it is given, if strides and arguments let it
  kView = 131072,    // there in any case
  // Beside one of them: where it has nothing to do it gives the input itself, where other views are new tensors.
  kReturnsSelf = 262144,
};

// A schema text whose form is checked by the compiler; its words are checked on registration.
struct SchemaText {
  std::string_view text;
  consteval SchemaText(const char* s) : text(s) {
    size_t open = text.find('('), arrow = text.find(") -> ");
    if (open == 0 || open == text.npos || arrow == text.npos || arrow < open)
      throw "a schema reads NAME(PARAMS) -> RESULTS";
    if (arrow + 5 >= text.size()) throw "a schema must say what the operation returns";
    int quotes = 0;
    for (char c : text) quotes += c == '\'';
    if (quotes % 2) throw "a schema has an unclosed quote";
  }
};

// The dtype in which an op computes inside autocast: PyTorch's lists of torch.autocast for GPUs.
enum class CastPolicy : uint8_t {
  unsaid,              // of prims, which are reached through composites alone, and of callers' ops: as none
  none,                // in the types that it is given
  lower_precision_fp,  // in the type of the autocast: products and convolutions
  fp32,                // in f32: sums of many, exponentials, norms and losses
  promote,             // in the widest of its operands' types
};

// A variant that a flag selects: in language bindings the flag is a last argument of this op.
struct Variant {
  std::string_view flag, op;
};

// A row. A prim gives meta and reference; a composite gives decompose and autocast. Both give a doc, and vjp or the
// reason why there is none (a composite may also leave both out: its gradient is then that of its decomposition).
struct OpRow {
  SchemaText schema;
  CastPolicy autocast = CastPolicy::unsaid;
  std::string_view doc;
  MetaFn meta = nullptr;
  KernelFn reference = nullptr;
  DecomposeFn decompose = nullptr;
  VjpFn vjp = nullptr;
  std::string_view nondiff = {};
  BatchFn batch =
      nullptr;  // the op over a batch of its operands, for vmap; without one what `ops/batch.cpp` says of its kind
  ViewRule view = {};
  WriteThroughFn write_through = nullptr;
  SamplesFn samples = nullptr;
  uint32_t tags = 0;
  std::string_view alias_of = {};  // the op of which this is another name
  Variant variant = {};
  const RankRule* ranks = nullptr;  // of a prim that knows of ranks
  MultiplyAddsFn multiply_adds = nullptr;  // of a prim that is a product: how many it takes, by its types
};

// Refuses an incomplete row while compiling.
consteval OpRow checked(OpRow row) {
  if (row.doc.empty()) throw "an op needs a doc";
  if (row.decompose && (row.meta || row.reference)) throw "a composite takes meta and reference from its decomposition";
  if (row.decompose && row.autocast == CastPolicy::unsaid) throw "a composite says what autocast makes of it";
  if (!row.decompose && !(row.meta && row.reference)) throw "an op needs meta and reference, or decompose";
  if (!row.decompose && !row.vjp && row.nondiff.empty()) throw "a prim needs vjp, or nondiff = \"reason\"";
  if (!row.decompose && (row.tags & kMatmul) && !row.multiply_adds) throw "a product says what it multiplies and adds";
  if (row.write_through && !row.view) throw "write_through belongs to views";
  return row;
}

// A registered operation. Built-in and custom ones are equals: a custom one derives from this, and its functions find
// themselves through Call::op and KernelArgs::op.
struct OpDef : Op {
  explicit OpDef(const OpRow& row);
  // Everything but the schema is empty. Throws at a malformed schema.
  explicit OpDef(std::string_view schema) : Op(parse_schema(schema)) {}
  virtual ~OpDef() = default;
  OpDef(const OpDef&) = delete;

  std::string doc;
  std::string nondiff;
  std::string alias_of;
  Variant variant;  // of a built-in row; its text is static
  MetaFn meta = nullptr;
  KernelFn reference = nullptr;
  DecomposeFn decompose = nullptr;
  VjpFn vjp = nullptr;
  BatchFn batch = nullptr;
  ViewRule view = {};
  WriteThroughFn write_through = nullptr;
  SamplesFn samples = nullptr;
  uint32_t tags = 0;
  CastPolicy autocast = CastPolicy::unsaid;
  const RankRule* ranks = nullptr;
  MultiplyAddsFn multiply_adds = nullptr;

  bool has(OpTag tag) const { return tags & tag; }
  // Whether the kernel is a built-in one that gets narrow integers widened (ops/widened.h).
  bool widens = false;
  // Whether `reference` can run it as it is; else it takes its decomposition.
  virtual bool has_kernel() const { return reference != nullptr; }
  // The kernel that a caller registered for devices of this kind, or null.
  virtual const kernels::DeviceKernel* device_kernel(int32_t) const { return nullptr; }
};
inline const OpDef& def(const Node& n) { return static_cast<const OpDef&>(*n.op); }
inline const OpDef& def(const Op& op) { return static_cast<const OpDef&>(op); }
inline bool may_view(const OpDef& op) { return op.view || (op.tags & (kView | kMayView)); }

}  // namespace thunder
