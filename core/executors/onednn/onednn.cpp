#include "executors/onednn/onednn.h"

#include <algorithm>
#include <array>

#include "executors/onednn/site.h"

namespace thunder {
namespace {

struct Row {
  std::string_view op;
  MakeSite make;
};
constexpr std::array kRows = {
    Row{"prims.matmul", matmul_site},
    Row{"linear", linear_site},
};

// Asked about these ops only: whether all operands and results are f32 on the CPU.
bool claim(const NodeView& view, void*) {
  bool takes = true;
  auto check = [&](ValueId v) {
    const TensorType& t = view.store.type(v);
    takes = takes && t.dtype == DType::f32 && t.device == Device::cpu;
  };
  for_each_value(view.node.args, check);
  for (ValueId r : view.node.results) check(r);
  return takes;
}

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  *scratch = 0;
  for (const Row& r : kRows)
    if (r.op == view.node.op->name()) *state = r.make(*static_cast<const Library*>(user), view, scratch).release();
  return nullptr;
}

}  // namespace

std::optional<ExecutorDesc> onednn_executor(std::string& report) { return onednn_executor(Library::names(), report); }

std::optional<ExecutorDesc> onednn_executor(std::span<const char* const> library_names, std::string& report) {
  const Library* library = Library::open(library_names, report);
  if (!library) return std::nullopt;
  ExecutorDesc d;
  d.name = "onednn";
  for (const Row& r : kRows) d.ops.emplace_back(r.op);
  d.flags = kStrided;
  d.user = const_cast<Library*>(library);
  d.claim = claim;
  d.prepare = prepare;
  d.run = run_site;
  d.drop = drop_site;
  return d;
}

}  // namespace thunder
