#include "executors/onednn/onednn.h"

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

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  *scratch = 0;
  *state = row_of(kRows, view).make(*static_cast<const Library*>(user), view, scratch).release();
  return nullptr;
}

}  // namespace

std::optional<ExecutorDesc> onednn_executor(std::string& report) { return onednn_executor(Library::names(), report); }

std::optional<ExecutorDesc> onednn_executor(std::span<const char* const> library_names, std::string& report) {
  const Library* library = Library::open(library_names, report);
  if (!library) return std::nullopt;
  ExecutorDesc d = site_executor("onednn", kRows, all_tensors_are<DType::f32>, prepare, library);
  d.flags |= kLeads;
  return d;
}

}  // namespace thunder
