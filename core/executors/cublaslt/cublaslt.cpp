#include "executors/cublaslt/cublaslt.h"

#include "base/thrown.h"
#include "device/cuda/opened.h"
#include "executors/cublaslt/linear.h"

namespace thunder {
namespace {

using namespace cublaslt;

struct User {
  nvidia::Sessions<Session> sessions;
  const CublasltOptions options;
};

// A product for the layouts of its operands.
struct Work {
  std::optional<Product> product;
  std::optional<Linear> linear;

  Work(const Session& session, bool is_linear, const ProductOptions& options, std::span<const Buffer> in,
       const Buffer& out) {
    if (is_linear) linear.emplace(session, in, out, options);
    else product.emplace(session, in[0], in[1], out, options);
  }
  size_t scratch_bytes() const { return linear ? linear->scratch_bytes() : product->scratch_bytes(); }
  Status* run(std::span<const Buffer> in, const Buffer& out, void* scratch) const {
    return linear ? linear->run(in, out, scratch) : product->run(in[0], in[1], out, nullptr, scratch);
  }
};

// Between prepare and lay_out there is no product yet. In eager mode there may be no lay_out: then each run makes its
// own.
struct Site {
  const Session& session;
  const bool is_linear;
  const CublasltOptions options;
  std::unique_ptr<Work> work;
};

bool is_linear(const NodeView& view) { return view.node.op->name() == "linear"; }

// The library adds a bias in the product's epilogue, but not for f64. A linear without bias descends to a matmul.
bool takes_linear(const NodeView& view) {
  const std::span<const Arg> args = view.node.args;
  const auto type = [&](size_t i) -> const TensorType& { return view.store.type(args[i].v); };
  if (!args[2].present() || type(1).rank() != 2 || type(2).rank() != 1 || type(0).dtype == DType::f64) return false;
  const auto known = [](const TensorType& t) {
    return std::all_of(t.shape.begin(), t.shape.end(), [](Dim d) { return d.constant() && d.value() > 0; });
  };
  return known(type(0)) && known(type(1)) && type(1).device == type(0).device && type(2).device == type(0).device;
}

bool claim(const NodeView& view, void*) {
  const TensorType& t = view.store.type(view.node.results[0]);
  std::string why;
  return kind(t.device) == kCudaKind && multiplies(t.dtype) && (!is_linear(view) || takes_linear(view)) &&
         Library::open(why);
}

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  return caught([&]() -> Status* {
    *scratch = 0;
    auto& u = *static_cast<User*>(user);
    *state = new Site{u.sessions.of(view.store.type(view.node.results[0]).device), is_linear(view), u.options, nullptr};
    return nullptr;
  });
}

Status* lay_out(const NodeView& view, void* state, size_t* scratch, void*) {
  return caught([&]() -> Status* {
    auto& site = *static_cast<Site*>(state);
    const ProductOptions options{.tf32 = site.options.tf32, .timed = site.options.timed};
    site.work = std::make_unique<Work>(site.session, site.is_linear, options, view.inputs, view.outputs[0]);
    *scratch = site.work->scratch_bytes();
    return nullptr;
  });
}

Status* run(const Launch* launch, void* state) {
  const auto& site = *static_cast<const Site*>(state);
  const std::span in(launch->inputs, launch->n_inputs);
  if (site.work) return site.work->run(in, launch->outputs[0], launch->scratch);
  return caught([&] {
    const Work once(site.session, site.is_linear, {.tf32 = site.options.tf32}, in, launch->outputs[0]);
    const Ref<Storage> scratch = Storage::allocate(site.session.device().allocator(), once.scratch_bytes());
    return once.run(in, launch->outputs[0], scratch->data());
  });
}

void drop(void* state) { delete static_cast<Site*>(state); }

}  // namespace

ExecutorDesc cublaslt_executor(Devices& devices, const CublasltOptions& options) {
  const std::shared_ptr<User> user(new User{{devices, "cuBLASLt"}, options});
  ExecutorDesc d;
  d.name = "cublaslt";
  d.ops = {"prims.matmul", "linear"};
  d.flags = kStrided | kAnyDevice;
  d.user = user.get();
  d.claim = claim;
  d.prepare = prepare;
  d.lay_out = lay_out;
  d.run = run;
  d.drop = drop;
  d.owner = user;
  return d;
}

}  // namespace thunder
