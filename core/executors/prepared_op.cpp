#include "executors/prepared_op.h"

#include "base/thrown.h"

namespace thunder {
namespace {

PreparedOp& op(void* state) { return *static_cast<PreparedOp*>(state); }

}  // namespace

void use_prepared_ops(ExecutorDesc& desc) {
  desc.lay_out = [](const NodeView& view, void* state, size_t* scratch_bytes, void*) {
    return caught([&]() -> Status* { return op(state).lay_out(view, scratch_bytes), nullptr; });
  };
  desc.finish = [](void* state, Finished* finished) {
    return caught([&]() -> Status* { return op(state).finish(*finished), nullptr; });
  };
  desc.prepack = [](const Launch* launch, void* state, size_t* kept_bytes) {
    return caught([&]() -> Status* { return op(state).prepack(launch, kept_bytes), nullptr; });
  };
  desc.run = [](const Launch* launch, void* state) { return op(state).run(launch); };
  desc.drop = [](void* state) { delete static_cast<PreparedOp*>(state); };
}

}  // namespace thunder
