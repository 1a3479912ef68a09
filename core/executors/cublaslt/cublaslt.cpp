#include "executors/cublaslt/cublaslt.h"

#include "base/thrown.h"
#include "device/cuda/opened.h"
#include "executors/cublaslt/product.h"

namespace thunder {
namespace {

using namespace cublaslt;

struct User {
  nvidia::Sessions<Session> sessions;
  const bool tf32;
};

// Between prepare and lay_out there is no product yet. In eager mode there is no lay_out: then each run makes its own.
struct Site {
  const Session& session;
  const bool tf32;
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
    auto& u = *static_cast<User*>(user);
    *state = new Site{u.sessions.of(view.store.type(view.node.results[0]).device), u.tf32, nullptr};
    return nullptr;
  });
}

Status* lay_out(const NodeView& view, void* state, size_t* scratch, void*) {
  return caught([&]() -> Status* {
    auto& site = *static_cast<Site*>(state);
    site.product = std::make_unique<cublaslt::Product>(site.session, view.inputs[0], view.inputs[1], view.outputs[0], site.tf32);
    *scratch = site.product->scratch_bytes();
    return nullptr;
  });
}

Status* run(const Launch* launch, void* state) {
  const auto& site = *static_cast<const Site*>(state);
  const Buffer &a = launch->inputs[0], &b = launch->inputs[1], &c = launch->outputs[0];
  if (site.product) return site.product->run(a, b, c, launch->scratch);
  return caught([&] {
    const cublaslt::Product product(site.session, a, b, c, site.tf32);
    const Ref<Storage> scratch = Storage::allocate(site.session.device().allocator(), product.scratch_bytes());
    return product.run(a, b, c, scratch->data());
  });
}

void drop(void* state) { delete static_cast<Site*>(state); }

}  // namespace

ExecutorDesc cublaslt_executor(Devices& devices, bool tf32) {
  const std::shared_ptr<User> user(new User{{devices, "cuBLASLt"}, tf32});
  ExecutorDesc d;
  d.name = "cublaslt";
  d.ops = {"prims.matmul"};
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
