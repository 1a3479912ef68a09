// The list of names that PyTorch has and libthunder has not.
// covers: core/base/pytorch_names.cpp
#include "base/pytorch_names.h"

#include "fixture.h"
#include "ops/registry.h"

namespace thunder {
namespace {

struct PyTorchNames : Modules {};

TEST_F(PyTorchNames, are_sorted_and_found) {
  const auto names = pytorch_names();
  for (size_t i = 0; i < names.size(); i++) {
    EXPECT_EQ(find_pytorch_name(names[i].name), &names[i]);
    if (i) {
      EXPECT_LT(names[i - 1].name, names[i].name);
    }
  }
  EXPECT_EQ(find_pytorch_name("sotfmax"), nullptr);
}

// What comes here one day leaves the list.
TEST_F(PyTorchNames, are_of_nothing_that_is_here) {
  for (auto& row : optimizer_rows()) EXPECT_EQ(find_pytorch_name(row.name), nullptr) << row.name;
  for (auto& row : lr_scheduler_rows) EXPECT_EQ(find_pytorch_name(row.name), nullptr) << row.name;
  for (auto& kind : context->module_kinds().all()) EXPECT_EQ(find_pytorch_name(kind->name()), nullptr) << kind->name();
  for (auto& op : context->registry().all()) {
    EXPECT_EQ(find_pytorch_name(op->name()), nullptr) << op->name();
    if (op->has(kInplace)) {
      EXPECT_EQ(find_pytorch_name(cat(op->name(), "_")), nullptr) << op->name();
    }
  }
  for (auto& [name, instead] : pytorch_names()) EXPECT_FALSE(find_dtype(name)) << name;
}

}  // namespace
}  // namespace thunder
