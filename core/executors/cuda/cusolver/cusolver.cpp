#include "executors/cuda/cusolver/cusolver.h"

#include <limits>

#include "executors/cuda/cusolver/matrix_node.h"
#include "ir/prim.h"

namespace thunder {
namespace {

using namespace cusolver;

using CusolverSessions = nvidia::Sessions<Session>;

// For these ops the libraries take matrices one by one, each in many launches: many small ones are faster on the CPU.
bool is_worth_it(Prim op, const Matrices& in) {
  constexpr int64_t kMost = 8, kLarge = 64;
  const bool one_by_one = op == Prim::qr || op == Prim::eigh || op == Prim::svd;
  return !one_by_one || in.batch <= kMost || std::min(in.rows, in.columns) >= kLarge;
}

bool claim(const NodeView& view, void*) {
  std::string why;
  if (!is_on_one_device(view, kCudaKind) || !Library::open(why)) return false;
  const Matrices in(view.store.type(view.node.args[0].v));
  return in.all_elements() <= std::numeric_limits<int>::max() && is_worth_it(view.node.op->id, in);
}

KernelPtr prepare(const NodeView& view, void* user) {
  Session& session = CusolverSessions::session_of(view, user);
  KernelPtr made = prepare_factors(session, view);
  return made ? std::move(made) : prepare_system(session, view);
}

}  // namespace

ExecutorDesc cusolver_executor(Devices& devices) {
  return CusolverSessions::executor(devices, "cuSOLVER",
                                    {.name = "cusolver",
                                     .ops = names({Prim::cholesky, Prim::qr, Prim::eigh, Prim::svd, Prim::solve,
                                                   Prim::det, Prim::slogdet, Prim::triangular_solve}),
                                     .claim = claim,
                                     .prepare = prepare});
}

}  // namespace thunder
