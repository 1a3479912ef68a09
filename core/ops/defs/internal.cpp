// Ops for lines that only the library itself records; users cannot call them.
#include "base/text.h"
#include "ops/builder.h"
#include "ops/declare.h"

namespace thunder {
namespace {

void no_meta(const Call& c, Types&) {
  c.require(false, "only the compiler makes this line; it cannot be called as an op");
}
Status* no_kernel(const KernelArgs&) {
  return make<Status>(Code::internal, "internal error, please report it: this line has no kernel").detach();
}

constexpr OpRow kRows[] = {
    primitive("grad(tensor loss, tensor[] wrt) -> tensor[]",
              "d(loss)/d(each of wrt), asked for inside a traced function; the grad pass expands it.", no_meta,
              no_kernel, nullptr, kHidden, {.nondiff = "the grad pass expands inner gradients first"}),
    primitive("region(tensor[] inputs) -> tensor[]", "Lines that a fusion executor runs as one; they are its body.",
              no_meta, no_kernel, nullptr, kHidden, {.nondiff = "it is made after gradients are expanded"}),
};

}  // namespace

extern const OpRows internal_ops = kRows;

}  // namespace thunder
