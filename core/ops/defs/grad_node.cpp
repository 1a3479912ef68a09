// The line that a gradient asked for inside a traced function leaves; the grad pass expands it.
#include "base/text.h"
#include "ops/builder.h"

namespace thunder {
namespace {

constexpr OpRow kRow = checked(
    {.schema = "grad(tensor loss, tensor[] wrt) -> tensor[]", .doc = "d(loss)/d(each of wrt); expanded by the grad pass.",
     .meta = [](const Call&, Types&) { fail(Code::internal, "internal error, please report it: grad is recorded by a scope"); },
     .reference = [](const Kernel&) { return make<Status>(Code::internal, "internal error, please report it: grad was not expanded").detach(); },
     .nondiff = "the grad pass expands inner gradients first", .tags = kHidden});

}  // namespace

void register_grad_node(Registry& r) { r.add(kRow); }

}  // namespace thunder
