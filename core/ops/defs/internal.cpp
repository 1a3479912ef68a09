// Lines that only the library itself writes.
#include "base/text.h"
#include "ops/builder.h"

namespace thunder {
namespace {

void no_meta(const Call& c, Types&) {
  c.require(false, "only the compiler makes this line; it cannot be called as an op");
}
Status* no_kernel(const KernelArgs&) {
  return make<Status>(Code::internal, "internal error, please report it: this line has no kernel").detach();
}

constexpr OpRow kRows[] = {
    checked({.schema = "grad(tensor loss, tensor[] wrt) -> tensor[]",
             .doc = "d(loss)/d(each of wrt), asked for inside a traced function; the grad pass expands it.",
             .meta = no_meta,
             .reference = no_kernel,
             .nondiff = "the grad pass expands inner gradients first",
             .tags = kHidden}),
    checked({.schema = "region(tensor[] inputs) -> tensor[]",
             .doc = "Lines that a fusion executor runs as one; they are its body.",
             .meta = no_meta,
             .reference = no_kernel,
             .nondiff = "it is made after gradients are expanded",
             .tags = kHidden}),
};

}  // namespace

void register_internal(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
