// Modules as text.
#include "modules/text.h"

#include "fixture.h"

namespace thunder {
namespace {

struct ModuleText : Modules {};

TEST_F(ModuleText, shows_kinds_with_their_options) {
  auto net = sequential({module("Linear", {Any::integer(4), Any::integer(8)}), module("ReLU"),
                         module("Dropout", {Any::real(1)})});
  EXPECT_EQ(module_text(*net),
            "Sequential(\n"
            "  (0): Linear(in_features=4, out_features=8, bias=True)\n"
            "  (1): ReLU()\n"
            "  (2): Dropout(p=1.0)\n"
            ")");
  const int64_t size[] = {3, 3};
  EXPECT_EQ(module_text(*module("MaxPool2d", {Any::dims(size)})),
            "MaxPool2d(kernel_size=[3, 3], padding=[0, 0], dilation=[1, 1], return_indices=False, ceil_mode=False)");
}

TEST_F(ModuleText, shows_tensors_of_the_users_own) {
  auto net = module("Module"), inner = module("Module");
  net->set_tensor("scale", tensor({2}, {1, 1}), Role::parameter);
  inner->set_tensor("seen", tensor({}, {0}), Role::buffer);
  net->add("inner", inner);
  EXPECT_EQ(module_text(*net),
            "Module(\n"
            "  (scale): f32[2]\n"
            "  (inner): Module(\n"
            "    (seen): f32[] buffer\n"
            "  )\n"
            ")");
}

TEST_F(ModuleText, names_what_it_has_shown) {
  auto shared = sequential({module("ReLU")});
  EXPECT_EQ(module_text(*sequential({shared, shared})),
            "Sequential(\n"
            "  (0): Sequential(\n"
            "    (0): ReLU()\n"
            "  )\n"
            "  (1): Sequential (the same as 0)\n"
            ")");
  // 2^40 paths lead to the innermost one.
  for (int i = 0; i < 40; i++) shared = sequential({shared, shared});
  EXPECT_LT(module_text(*shared).size(), 100000u);
}

}  // namespace
}  // namespace thunder
