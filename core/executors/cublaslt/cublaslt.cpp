#include "executors/cublaslt/cublaslt.h"

#include "base/thrown.h"
#include "device/cuda/opened.h"
#include "executors/cublaslt/product.h"

namespace thunder {
namespace {

using namespace cublaslt;

using Sessions = nvidia::Sessions<Session>;

// Between prepare and lay_out there is no product yet. In eager mode there is no lay_out: then each run makes its own.
struct Site {
  const Session& session;
  std::unique_ptr<cublaslt::Product> product;
};

bool claim(const NodeView& view, void*) {
  const TensorType& t = view.store.type(view.node.results[0]);
  std::string why;
  return kind(t.device) == kCudaKind && multiplies(t.dtype) && Library::open(why);
}

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  return caught([&]() -> Status* {
    *scratch = 0;
    *state = new Site{static_cast<Sessions*>(user)->of(view.store.type(view.node.results[0]).device), nullptr};
    return nullptr;
  });
}

Status* lay_out(const NodeView& view, void* state, size_t* scratch, void*) {
  return caught([&]() -> Status* {
    auto& site = *static_cast<Site*>(state);
    site.product = std::make_unique<cublaslt::Product>(site.session, view.inputs[0], view.inputs[1], view.outputs[0]);
    *scratch = site.product->scratch_bytes();
    return nullptr;
  });
}

Status* run(const Launch* launch, void* state) {
  const auto& site = *static_cast<const Site*>(state);
  const Buffer &a = launch->inputs[0], &b = launch->inputs[1], &c = launch->outputs[0];
  if (site.product) return site.product->run(a, b, c, launch->scratch);
  return caught([&] {
    const cublaslt::Product product(site.session, a, b, c);
    const Ref<Storage> scratch = Storage::allocate(site.session.device().allocator(), product.scratch_bytes());
    return product.run(a, b, c, scratch->data());
  });
}

void drop(void* state) { delete static_cast<Site*>(state); }

}  // namespace

ExecutorDesc cublaslt_executor(Devices& devices) {
  const auto sessions = std::make_shared<Sessions>(devices, "cuBLASLt");
  ExecutorDesc d;
  d.name = "cublaslt";
  d.ops = {"prims.matmul"};
  d.flags = kStrided | kAnyDevice;
  d.user = sessions.get();
  d.claim = claim;
  d.prepare = prepare;
  d.lay_out = lay_out;
  d.run = run;
  d.drop = drop;
  d.owner = sessions;
  return d;
}

}  // namespace thunder
