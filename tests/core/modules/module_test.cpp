// The tree of modules: names, paths, cycles, generations.
// covers: core/modules/generation.cpp
#include "fixture.h"

namespace thunder {
namespace {

TEST_F(Modules, finds_tensors_and_children_by_path) {
  auto root = module("Module"), inner = module("Module");
  auto t = tensor({2}, {1, 2});
  inner->set_tensor("weight", t, Role::parameter);
  root->add("fc1", inner);
  EXPECT_EQ(root->find(""), root.get());
  EXPECT_EQ(root->find("fc1"), inner.get());
  EXPECT_EQ(root->find("fc2"), nullptr);
  EXPECT_EQ(root->find_tensor("fc1.weight")->tensor.get(), t.get());
  EXPECT_EQ(root->find_tensor("fc1.bias"), nullptr);
  EXPECT_EQ(root->find_tensor("fc1"), nullptr);
  EXPECT_EQ(root->find_tensor(""), nullptr);
}

TEST_F(Modules, refuses_names_that_paths_could_not_tell_apart) {
  auto root = module("Module");
  root->add("a", module("Module"));
  root->set_tensor("b", tensor({1}, {1}), Role::parameter);
  EXPECT_NE(thrown([&] { root->add("", module("Module")); }), "");
  EXPECT_NE(thrown([&] { root->add("x.y", module("Module")); }).find("'x.y'"), std::string::npos);
  EXPECT_NE(thrown([&] { root->add("b", module("Module")); }).find("has a tensor 'b'"), std::string::npos);
  EXPECT_NE(thrown([&] { root->set_tensor("a", tensor({1}, {1}), Role::parameter); }).find("has a child 'a'"),
            std::string::npos);
  EXPECT_NE(thrown([&] { root->set_tensor("n", integers({1}, {1}), Role::parameter); }).find("i64[1]"),
            std::string::npos);
  root->set_tensor("n", integers({1}, {1}), Role::buffer);
}

TEST_F(Modules, refuses_cycles_and_too_deep_trees) {
  auto a = module("Module"), b = module("Module"), c = module("Module");
  a->add("b", b);
  b->add("c", c);
  EXPECT_NE(thrown([&] { c->add("a", a); }).find("cycle"), std::string::npos);
  EXPECT_NE(thrown([&] { a->add("a", a); }).find("cycle"), std::string::npos);
  EXPECT_TRUE(c->children().empty());

  auto top = module("Module");
  for (size_t depth = 1; depth < Module::kMaxDepth; depth++) {
    auto above = module("Module");
    above->add("inner", top);
    top = above;
  }
  auto above = module("Module");
  EXPECT_NE(thrown([&] { above->add("inner", top); }).find("nested 201 deep"), std::string::npos);
}

TEST_F(Modules, counts_changes_in_all_ancestors_once) {
  auto a = module("Module"), b = module("Module"), shared = module("Module");
  a->add("x", shared);
  a->add("y", shared);
  b->add("z", shared);
  auto count = [](const Ref<Module>& m) { return m->generation()->load(); };
  const uint64_t before_a = count(a), before_b = count(b), before = count(shared);
  shared->set_tensor("w", tensor({1}, {1}), Role::parameter);
  EXPECT_EQ(count(a), before_a + 1);
  EXPECT_EQ(count(b), before_b + 1);
  EXPECT_EQ(count(shared), before + 1);

  shared->find_tensor("w")->tensor->bump();
  a->set_training(true);
  EXPECT_EQ(count(a), before_a + 1) << "neither data nor a mode that stays is a change";
  a->set_training(false);
  EXPECT_EQ(count(a), before_a + 2);
  EXPECT_EQ(count(b), before_b + 2) << "the shared child changed its mode";

  b->add("z", module("Module"));
  const uint64_t detached = count(b);
  shared->set_tensor("w", tensor({1}, {2}), Role::parameter);
  EXPECT_EQ(count(b), detached);
  a = nullptr;
  shared->set_tensor("w", tensor({1}, {3}), Role::parameter);
}

TEST_F(Modules, lets_a_child_go_and_counts_that) {
  auto top = module("Module"), child = module("Linear", {Any::integer(2), Any::integer(3)});
  top->add("fc", child);
  const uint64_t before = top->generation()->load();
  top->remove("fc");
  const uint64_t after = top->generation()->load();
  EXPECT_EQ(after, before + 1);
  EXPECT_EQ(top->find("fc"), nullptr);
  child->set_training(false);
  EXPECT_EQ(top->generation()->load(), after) << "what becomes of it is nothing to where it was";
  EXPECT_THROW(top->remove("fc"), Error);
}

TEST_F(Modules, refuses_a_device_that_is_not_there) {
  auto m = module("Module");
  m->to(context->devices(), Device::cpu);
  EXPECT_NE(thrown([&] { m->to(context->devices(), cuda(1)); }).find("cuda:1"), std::string::npos);
}

TEST_F(Modules, lists_shared_modules_once_or_under_every_path) {
  auto root = module("Module"), shared = module("Module");
  root->add("b", shared);
  root->add("a", shared);
  auto once = modules_of(*root), all = module_paths_of(*root);
  ASSERT_EQ(once.size(), 2u);
  EXPECT_EQ(once[1].path, "b");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].path, "a");
}

TEST_F(Modules, refuses_to_list_more_paths_than_memory_holds) {
  auto top = module("Module");
  for (int i = 0; i < 40; i++) {
    auto above = module("Module");
    above->add("l", top);
    above->add("r", top);
    top = above;
  }
  EXPECT_EQ(modules_of(*top).size(), 41u);
  EXPECT_NE(thrown([&] { module_paths_of(*top); }).find("paths"), std::string::npos);
}

}  // namespace
}  // namespace thunder
