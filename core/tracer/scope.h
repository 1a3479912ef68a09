// A scope records or runs operations. It owns the tensors that they make, and keeps the first error.
#pragma once

#include <functional>
#include <thread>

#include "device/devices.h"
#include "ops/builder.h"
#include "tracer/values.h"

namespace thunder {

// Runs one prim now; injected, so that this layer knows no executor.
class OpRunner {
 public:
  virtual ~OpRunner() = default;
  virtual Status* run(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in,
                      std::span<const Buffer> out) = 0;
};

// Runs a composite now as one program; injected, too.
class CompositeRunner {
 public:
  virtual ~CompositeRunner() = default;
  // `in`: the tensors among the arguments, in their order. False: it is to be decomposed.
  virtual bool run(const OpDef& op, std::span<const Arg> args, std::span<Tensor* const> in,
                   std::vector<Ref<Tensor>>& out) = 0;
  // The gradient of a call of any op with these `results`. `cotangents`: of each of them, null where the loss does not
  // reach it; `wanted`: by which of `in`. Gives a tensor for each of `in`, null where there is none. False: it is to be
  // made op by op.
  virtual bool gradient(const OpDef& op, std::span<const Arg> args, std::span<Tensor* const> in,
                        std::span<Tensor* const> results, std::span<Tensor* const> cotangents,
                        const std::vector<bool>& wanted, std::vector<Ref<Tensor>>& out) = 0;
};

// The parts of a context that a scope needs. Everything outlives the scope.
struct ScopeEnvironment {
  const Registry* registry = nullptr;
  Allocator allocator;  // of the host's memory
  OpRunner* runner = nullptr;
  CompositeRunner* composites = nullptr;  // null: all are decomposed
  Ref<Tensor> random;  // i64[2] {seed, draws}
  void* context = nullptr;  // whose environment this is: handed back at the C boundary, unknown here
  Devices* devices = nullptr;  // null: the host alone

  // Uninitialised, on the type's device. Throws out_of_memory, and what opening the device throws.
  Ref<Tensor> empty(const TensorType& type) const {
    return Tensor::empty(type.device == Device::cpu || !devices ? allocator : devices->allocator(type.device), type);
  }
};

// Something that a trace keeps and no call checks.
struct SharpEdge {
  std::string text, where;  // `where`: the user's line, or ""
};

// The state of reads of modules' parameters: a counter checked at each call, and the facts behind it.
struct Fact {
  virtual ~Fact() = default;
  virtual bool holds() const = 0;
  virtual std::string describe() const = 0;
};
struct GenerationGuard {
  std::shared_ptr<const std::atomic<uint64_t>> counter;
  uint64_t seen = 0;
  std::vector<std::unique_ptr<Fact>> facts;
};

// Of a recorded value: the sharding of the parameters that it is made of, each rank from its own part; null: none.
struct ValuePart {
  std::shared_ptr<const Sharding> of = nullptr;
  bool known = false;  // false: it is made of tensors that may be anything
};

struct ModuleAccess;

// A layer whose forward is running, for messages: ops without a source line get that of the layer's call.
class LayerCall {
 public:
  LayerCall(const LayerCall* outer, const char* where) : outer(outer), where(where || !outer ? where : outer->where) {}
  // From the topmost module, "blocks.0.fc1"; "" for that one.
  virtual std::string path() const = 0;

  const LayerCall* const outer;
  const char* const where;

 protected:
  ~LayerCall() = default;
};

class Scope : public ProxyOwner, public Handled {
 public:
  explicit Scope(ScopeEnvironment environment)
      : environment_(std::move(environment)), owner_(std::this_thread::get_id()) {}
  virtual ~Scope();
  Scope(const Scope&) = delete;

  virtual bool tracing() const = 0;
  // Runs ops and keeps a tape of them.
  virtual bool taped() const { return false; }

  // Runs or records `name` (or its in-place form NAME_). Results belong to the scope; out may be null. Returns the
  // first result, never null: after an error a failed tensor. `where` is static text, "file:line", or null.
  Tensor* invoke(std::string_view name, std::span<const Any> args, const char* const* names, Tensor** out, size_t n_out,
                 const char* where);
  // All results, for ops such as split whose number of results varies.
  Values* invoke_all(std::string_view name, std::span<const Any> args, const char* const* names, const char* where);

  // d(loss)/d(each tensor leaf of wrt), in wrt's structure; null after an error.
  Values* grad(Tensor* loss, const Values& wrt);
  Tensor* number(const Any& value);
  Values* list(std::span<Tensor* const> tensors);

  // The value for a concrete tensor read through a module; guarded where that matters.
  virtual Tensor* parameter(Tensor* t, std::string_view path) = 0;
  virtual void guard(std::shared_ptr<const std::atomic<uint64_t>> counter, std::unique_ptr<Fact> fact) = 0;

  // Whether somebody wants to know of sharp edges, and one that was found. Of a scope inside of a tracing one: of that.
  virtual bool wants_edges() const { return edges != nullptr; }
  virtual void add_edge(SharpEdge edge) {
    if (edges) edges->push_back(std::move(edge));
  }

  // Rule 4: the first error stays.
  void fail(Ref<Status> status);
  void fail(Code code, std::string message) { fail(make<Status>(code, std::move(message))); }
  const Ref<Status>& status() const { return error_; }
  // Adds to an error that an op or a layer threw its name, unless the error has it, and its place.
  void fail_at(const Error& thrown, std::string_view name, const char* where);
  bool on_owner_thread() const { return std::this_thread::get_id() == owner_; }
  Tensor* failed_tensor();

  Tensor* own(Ref<Tensor> t);
  Values* own(Ref<Values> v);
  virtual void reset();
  const ScopeEnvironment& environment() const { return environment_; }
  virtual Builder& builder() = 0;

  // Converts between tensors and values of this scope's builder, for modules and optimizers that write formulas.
  virtual ValueId enter(Tensor* t) = 0;
  virtual Tensor* wrap(ValueId v) = 0;
  // The results of `body`, which computes from `inputs` alone; where ops are recorded to be compiled, as one line that
  // a backward computes again instead of keeping its values.
  using Body = std::function<std::vector<Tensor*>()>;
  virtual std::vector<Tensor*> checkpointed(std::span<Tensor* const> /*inputs*/, const Body& body) { return body(); }
  // The value of a live number in this call, which is then guarded. None: the value is no live number.
  virtual Arg as_number(ValueId) { return Arg::none(); }
  // Gradients by shards are shards, and what is made of them without a collective.
  virtual std::vector<ValuePart> parts(std::span<const ValueId> values) {
    return std::vector<ValuePart>(values.size());
  }
  // Makes `x` stand for `value` (x's type): a store now, or a rebinding of the proxy.
  virtual void write(Tensor* x, ValueId value) = 0;
  // Runs `body`, which may use builder(), enter(), wrap() and write(); its exception becomes the scope's error.
  template <class F>
  void run_formulas(F&& body) {
    if (error_) return;
    begin_op(nullptr);
    try {
      body();
    } catch (const Error& e) {
      fail(e.status());
    } catch (const std::bad_alloc&) {
      fail(Ref<Status>::adopt(out_of_memory_status()));
    }
    end_op();
  }

  // The modules whose forwards are being traced, innermost first; set by modules/.
  const ModuleAccess* access = nullptr;
  // The innermost layer at work; modules/ sets it.
  const LayerCall* layer = nullptr;
  // The list in which sharp edges are collected; null: they are not. Set by whoever calls a function in the scope.
  std::vector<SharpEdge>* edges = nullptr;
  // The dtype in which ops with an autocast policy compute, unless none.
  DType autocast = DType::none;
  // Functions that are being traced inside of it, for transforms.
  uint32_t traced_inside = 0;
  // Calls of the caller's that are at work in it, and whether a callback of theirs released it: it goes when the last
  // is done.
  uint32_t uses = 0;
  bool released = false;
  // By how many it is lent to callers of the C API.
  uint32_t lent = 0;

 protected:
  // An op was refused because the shape of its result depends on values. Whether they are known now, so that it can be
  // recorded again.
  virtual bool learn_integers(std::string_view /*name*/, std::span<const Any> /*args*/, const char* const* /*names*/,
                              const char* /*where*/) {
    return false;
  }
  // "file:line, layer net.0", or what of it is known.
  std::string place_of(const char* where) const;
  virtual void begin_op(const char* where) = 0;
  virtual void end_op() = 0;
  virtual std::vector<ValueId> gradient(ValueId loss, std::span<Tensor* const> wrt) = 0;
  Arg argument(const Any& a);
  static const Param* parameter_of(const OpDef& op, const char* const* names, size_t i);
  // Called before numbers among the arguments of an op become constants of the trace.
  virtual void take_live_numbers(const OpDef& /*op*/, std::span<Arg> /*args*/, const char* const* /*names*/) {}
  const std::vector<Ref<Tensor>>& owned() const { return tensors_; }
  // Of functions that were called in it, and of what it was given.
  void forget_values();

  ScopeEnvironment environment_;

 private:
  template <class Take>
  bool run_op(std::string_view name, std::span<const Any> args, const char* const* names, const char* where,
              Take&& take);
  void drop();
  void read_live_numbers(const OpDef& op, const char* const* names);
  void cast_arguments(const OpDef& op);
  void make_tensors_of_numbers(const OpDef& op, std::span<const Any> given, const char* const* names);
  Results dispatch(std::string_view name, std::span<const Any> args, const char* const* names, Tensor*& itself);

  std::thread::id owner_;
  Ref<Status> error_;
  std::vector<Ref<Tensor>> tensors_;
  std::vector<Ref<Values>> values_;
  // Storage of converted arguments, reused between calls.
  std::vector<Dim> dims_;
  std::vector<ValueId> ids_;
  std::vector<Arg> args_;
};

}  // namespace thunder
