// Lists of tensors, files, and a training run that goes on from a file as if it had never stopped.
#include <cstdio>
#include <filesystem>

#include "fixture.h"
#include "support/failure.h"

namespace thunder {
namespace {

struct Checkpoint : Modules {
  std::string path =
      (std::filesystem::temp_directory_path() / cat("thunder_checkpoint_", ::getpid(), ".safetensors")).string();
  ~Checkpoint() override { std::remove(path.c_str()); }
  void load(const Ref<Module>& m, bool strict = true) { load_module(*m, path, strict, context->allocator()); }
  std::string all_bytes(const Ref<Module>& m) {
    Values state;
    list_state(*m, state);
    std::string out;
    for (size_t i = 0; i < state.size(); i++) out += bytes(*state[i].tensor);
    return out;
  }
  Ref<Module> linear(int64_t in, int64_t out) { return module("Linear", {Any::integer(in), Any::integer(out)}); }
};

TEST_F(Checkpoint, lists_always_give_the_same_handles) {
  auto net = sequential({linear(2, 3), module("BatchNorm2d", {Any::integer(3)})});
  Values a, b, buffers;
  list_parameters(*net, a);
  list_parameters(*net, b);
  list_buffers(*net, buffers);
  EXPECT_EQ(a.structure(), "{\"0.bias\":*,\"0.weight\":*,\"1.bias\":*,\"1.weight\":*}");
  EXPECT_EQ(buffers.structure(), "[[*,*],[*,*],[*,*]]");
  EXPECT_EQ(buffers[0].text + " " + buffers[4].text, "1.running_mean 1.num_batches_tracked");
  for (size_t i = 0; i < a.size(); i++) EXPECT_EQ(a[i].tensor, b[i].tensor);
}

TEST_F(Checkpoint, the_state_is_in_the_order_of_pytorch_without_what_is_not_saved) {
  auto net = module("Module");
  net->set_tensor("table", wave({2}), Role::transient);
  net->set_tensor("mean", wave({2}), Role::buffer);
  net->add("fc", linear(2, 3));
  net->set_tensor("scale", wave({2}), Role::parameter);
  Values paths, state, buffers;
  list_paths(*net, paths);
  list_state(*net, state);
  list_buffers(*net, buffers);
  std::string order;
  for (size_t i = 0; i < paths.size(); i++) order += paths[i].text + " ";
  EXPECT_EQ(order, "scale mean fc.weight fc.bias ");
  EXPECT_EQ(state.structure(), "{\"fc.bias\":*,\"fc.weight\":*,\"mean\":*,\"scale\":*}");
  EXPECT_EQ(buffers[0].text + " " + buffers[2].text, "table mean");
  save_module(*net, path);
  auto other = net->copy(context->allocator());
  EXPECT_EQ(other->find_tensor("table")->role, Role::transient);
  load(other);
}

TEST_F(Checkpoint, loads_what_was_saved_into_the_same_handles) {
  auto a = sequential({linear(2, 3), module("BatchNorm2d", {Any::integer(3)})}),
       b = sequential({linear(2, 3), module("BatchNorm2d", {Any::integer(3)})});
  ASSERT_NE(all_bytes(a), all_bytes(b));
  save_module(*a, path);
  Ref<Tensor> weight = b->find_tensor("0.weight")->tensor;
  const uint64_t version = weight->storage()->version(), generation = b->generation()->load();
  load(b);
  EXPECT_EQ(all_bytes(a), all_bytes(b));
  EXPECT_EQ(b->find_tensor("0.weight")->tensor, weight);
  EXPECT_GT(weight->storage()->version(), version);
  EXPECT_EQ(b->generation()->load(), generation) << "data is no reason to compile again";
}

TEST_F(Checkpoint, a_shard_is_not_saved_as_if_it_were_the_tensor) {
  auto net = linear(2, 3);
  Values parameters;
  list_parameters(*net, parameters);
  parameters[0].tensor->set_sharding(std::make_shared<const Sharding>(Sharding{.axis = "data", .ranks = 2, .rows = 6}));
  EXPECT_EQ(code_of([&] { save_module(*net, path); }), Code::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Checkpoint, a_count_of_batches_may_be_missing) {
  auto net = module("BatchNorm2d", {Any::integer(3)});
  auto older = module("Module");
  for (auto& t : net->tensors())
    if (t.name != "num_batches_tracked") older->set_tensor(t.name, wave({3}), t.role);
  save_module(*older, path);
  load(net);
  EXPECT_EQ(bytes(*net->find_tensor("running_mean")->tensor), bytes(*wave({3})));
}

TEST_F(Checkpoint, a_misfit_is_told_whole_and_changes_nothing) {
  auto saved = module("Module");
  saved->add("a", linear(2, 3));
  saved->add("b", linear(2, 3));
  save_module(*saved, path);
  auto net = module("Module");
  net->add("a", linear(2, 3));
  net->add("b", linear(3, 3));
  net->add("c", linear(1, 1));
  const std::string before = all_bytes(net);
  const std::string message = thrown([&] { load(net); });
  EXPECT_NE(message.find("missing 'c.weight', 'c.bias'"), std::string::npos) << message;
  EXPECT_NE(message.find("mismatched 'b.weight' is f32[3, 2] in the file, f32[3, 3] in the module"), std::string::npos)
      << message;
  EXPECT_EQ(all_bytes(net), before);

  auto less = module("Module");
  less->add("a", linear(2, 3));
  EXPECT_NE(thrown([&] { load(less); }).find("unexpected 'b."), std::string::npos);
  load(less, false);
  EXPECT_EQ(all_bytes(less), all_bytes(Ref<Module>(saved->find("a"))));
  EXPECT_NE(thrown([&] { load(net, false); }).find("mismatched"), std::string::npos) << "types must always fit";
}

TEST_F(Checkpoint, a_damaged_or_absent_file_changes_nothing) {
  auto net = linear(2, 3);
  const std::string before = all_bytes(net);
  EXPECT_NE(thrown([&] { load(net); }).find(path), std::string::npos);
  save_module(*linear(2, 3), path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
  EXPECT_NE(thrown([&] { load(net); }), "");
  EXPECT_EQ(all_bytes(net), before);
}

TEST_F(Checkpoint, a_tied_tensor_is_saved_under_each_path_and_must_agree) {
  auto tied = [&] {
    auto net = module("Module"), a = linear(2, 2), b = linear(2, 2);
    b->set_tensor("weight", a->find_tensor("weight")->tensor, Role::parameter);
    net->add("a", a);
    net->add("b", b);
    return net;
  };
  auto net = tied(), other = tied();
  save_module(*net, path);
  load(other);
  EXPECT_EQ(all_bytes(other), all_bytes(net));
  auto untied = module("Module");
  untied->add("a", linear(2, 2));
  untied->add("b", linear(2, 2));
  save_module(*untied, path);
  const std::string before = all_bytes(other);
  EXPECT_NE(thrown([&] { load(other); }).find("differing 'a.weight' and 'b.weight'"), std::string::npos);
  EXPECT_EQ(all_bytes(other), before);
}

// A model, its optimizer, a schedule, and where the data stands.
struct Training {
  Training(Checkpoint& test) : test(test) {
    net = test.sequential(
        {test.linear(4, 6), test.module("ReLU"), test.module("Dropout", {Any::real(0.3)}), test.linear(6, 2)});
    list_parameters(*net, params);
    optimizer = make<Optimizer>(test.environment, "AdamW", params, nullptr);
    Options o;
    o.set("T_max", Any::integer(20));
    schedule = make<LrScheduler>(test.environment, "CosineAnnealingLR", optimizer, &o);
    schedule->start();
    position = test.integers({}, {0});
    whole = test.module("Module");
    whole->add("model", net);
    whole->add("optimizer", optimizer->state());
    whole->add("schedule", schedule->state());
    whole->set_tensor("random", test.context->random(), Role::buffer);
    whole->set_tensor("position", position, Role::buffer);
    step = test.compile([this](Scope& s, const Values& in, Values& out) { body(s, in, out); });
  }
  void body(Scope& s, const Values& in, Values& out) {
    Tensor* y = (*module_call(s, *net, in))[0].tensor.get();
    Tensor* loss = op(s, "prims.sum", {any(op(s, "mul", {any(y), any(y)})), Any::dims({})});
    optimizer->step(s, *s.grad(loss, params));
    out.push(Ref<Tensor>(loss));
  }
  void run(int steps, bool compiled) {
    for (int i = 0; i < steps; i++) {
      auto& at = *reinterpret_cast<int64_t*>(position->data());
      auto x = test.wave({3, 4}, static_cast<float>(at++));
      auto loss = compiled
                      ? test.run(*step, {x})
                      : test.eager([this](Scope& s, const Values& in, Values& out) { body(s, in, out); }, {x}, true);
      ASSERT_TRUE(loss) << test.error;
      schedule->step();
    }
  }
  Checkpoint& test;
  Ref<Module> net, whole;
  Values params;
  Ref<Optimizer> optimizer;
  Ref<LrScheduler> schedule;
  Ref<Tensor> position;
  Ref<Compiled> step;
};

TEST_F(Checkpoint, a_run_resumes_to_the_bit) {
  for (bool compiled : {false, true}) {
    seed(5);
    Training first(*this);
    first.run(5, compiled);
    save_module(*first.whole, path);
    first.run(5, compiled);
    const std::string wanted = all_bytes(first.whole);

    seed(99);
    Training second(*this);
    load(second.whole);
    second.run(5, compiled);
    EXPECT_TRUE(all_bytes(second.whole) == wanted) << (compiled ? "compiled" : "eager");
  }
}

}  // namespace
}  // namespace thunder
