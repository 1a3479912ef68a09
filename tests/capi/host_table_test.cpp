// The table of docs/compiled-functions.md: what of the host a compiled function sees. Each row of its C column is a program here.
#include <gtest/gtest.h>
#include <thunder.h>
#include <thunder/ops.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Body = std::function<thunder_tensor*(thunder_scope*, const thunder_values*)>;

thunder_status* run_body(thunder_scope* scope, const thunder_values* in, thunder_values* out, void* user) {
  thunder_values_push_tensor(out, (*static_cast<Body*>(user))(scope, in));
  return nullptr;
}

struct HostTable : testing::Test {
  HostTable() {
    ok(thunder_context_create(nullptr, &context));
    ok(thunder_values_create(context, &in));
    ok(thunder_values_create(context, &out));
    x = tensor(1);
  }
  ~HostTable() override {
    thunder_tensor_release(x);
    thunder_values_release(in), thunder_values_release(out);
    forget();
    thunder_context_release(context);
  }
  static void ok(thunder_status* status) {
    EXPECT_EQ(status, nullptr) << (status ? thunder_status_message(status) : "");
    thunder_status_release(status);
  }
  thunder_tensor* tensor(float value) {
    const int64_t shape[] = {1};
    thunder_tensor* made = nullptr;
    ok(thunder_tensor_create(context, THUNDER_F32, 1, shape, THUNDER_CPU, &value, sizeof value, &made));
    return made;
  }
  void forget() {
    thunder_compiled_release(compiled), thunder_function_release(function);
    compiled = nullptr, function = nullptr;
  }
  void compile(Body f) {
    forget();
    body = std::move(f);
    ok(thunder_function_create(context, "f", run_body, &body, nullptr, &function));
    ok(thunder_compile(function, nullptr, &compiled));
  }
  float call(const thunder_any* second = nullptr) {
    thunder_values_reset(in);
    thunder_values_push_tensor(in, x);
    if (second) thunder_values_push(in, second);
    ok(thunder_compiled_call(compiled, nullptr, in, out));
    float value = 0;
    ok(thunder_tensor_read(thunder_values_tensor(out, 0), &value, sizeof value));
    return value;
  }
  uint64_t misses() {
    thunder_statistics stats{};
    stats.size = sizeof stats;
    ok(thunder_compiled_statistics(compiled, &stats));
    return stats.misses;
  }
  // How a change is seen at the next call, or behind a touch of the function.
  std::string seen(const std::function<void()>& change) {
    const float before = call();
    change();
    if (call() != before) return misses() == 2 ? "guarded" : "live";
    ok(thunder_function_touch(function));
    return call() != before ? "touch" : "never";
  }
  // Of what the function does beside its results: done so often in two calls.
  std::string done(const int& times) {
    const int before = times;
    call(), call();
    return times == before + 2 ? "each call" : times == before + 1 ? "once" : "never";
  }
  thunder_module* module(const char* kind) {
    thunder_module* made = nullptr;
    ok(thunder_module_create(context, kind, nullptr, 0, nullptr, &made));
    return made;
  }
  void compile_module(thunder_module* m) {
    compile([m](thunder_scope* s, const thunder_values* given) { return thunder_values_tensor(thunder_module_call(s, m, given), 0); });
  }
  // A number that the callback reads where C has it: in what `user` points to, a variable, a table of functions.
  std::string number_of_the_callback() {
    double factor = 2;
    compile([&](thunder_scope* s, const thunder_values* given) { return th_mul(s, thunder_values_tensor(given, 0), th_f64(s, factor)); });
    return seen([&] { factor = 5; });
  }

  std::string elements() {
    thunder_tensor* w = tensor(2);
    compile([w](thunder_scope* s, const thunder_values* given) { return th_mul(s, thunder_values_tensor(given, 0), w); });
    const std::string how = seen([&] {
      const float other = 5;
      ok(thunder_tensor_write(w, &other, sizeof other));
    });
    thunder_tensor_release(w);
    return how;
  }
  std::string float_argument() {
    compile([](thunder_scope* s, const thunder_values* given) { return th_mul(s, thunder_values_tensor(given, 0), thunder_values_tensor(given, 1)); });
    const thunder_any half = thunder_any_f64(0.5), quarter = thunder_any_f64(0.25);
    const float a = call(&half), b = call(&quarter);
    return a == 0.5f && b == 0.25f && misses() == 1 ? "live" : "guarded";
  }
  std::string training() {
    thunder_module* drop = nullptr;
    const thunder_any all = thunder_any_f64(1);
    ok(thunder_module_create(context, "Dropout", &all, 1, nullptr, &drop));
    compile_module(drop);
    const std::string how = seen([&] { ok(thunder_module_set_training(drop, 0)); });
    thunder_module_release(drop);
    return how;
  }
  std::string members() {
    thunder_module *net = module("Sequential"), *first = module("Identity"), *second = module("Sigmoid");
    ok(thunder_module_add(net, "0", first));
    compile_module(net);
    const std::string how = seen([&] { ok(thunder_module_add(net, "0", second)); });
    for (thunder_module* m : {net, first, second}) thunder_module_release(m);
    return how;
  }
  std::string options() {
    thunder_module* layer = module("LeakyReLU");
    compile([layer](thunder_scope* s, const thunder_values* given) {
      thunder_values* negated = nullptr;
      ok(thunder_values_create(thunder_scope_context(s), &negated));
      thunder_values_push_tensor(negated, th_neg(s, thunder_values_tensor(given, 0)));
      thunder_tensor* made = thunder_values_tensor(thunder_module_call(s, layer, negated), 0);
      thunder_values_release(negated);
      return made;
    });
    const std::string how = seen([&] {
      const thunder_any slope = thunder_any_f64(0.5);
      ok(thunder_module_set_option(layer, "negative_slope", &slope));
    });
    thunder_module_release(layer);
    return how;
  }
  // One that the callback makes, writes and releases.
  std::string made() {
    compile([this](thunder_scope* s, const thunder_values* given) {
      thunder_tensor* t = tensor(0);
      th_add_(s, t, thunder_values_tensor(given, 0));
      thunder_tensor* result = th_mul(s, t, t);
      thunder_tensor_release(t);
      return result;
    });
    return call() == 1 && call() == 1 ? "each call" : "once";
  }
  std::string counted() {
    int times = 0;
    compile([&](thunder_scope* s, const thunder_values* given) { return times++, th_relu(s, thunder_values_tensor(given, 0)); });
    return done(times);
  }
  std::string kept() {
    std::vector<thunder_tensor*> log;
    int times = 0;
    compile([&](thunder_scope* s, const thunder_values* given) {
      log.push_back(thunder_tensor_retain(th_relu(s, thunder_values_tensor(given, 0))));
      return times++, log.back();
    });
    const std::string how = done(times);
    float value = 0;
    thunder_status* failed = thunder_tensor_read(log[0], &value, sizeof value);  // and it is never taken for data
    EXPECT_NE(failed, nullptr);
    thunder_status_release(failed);
    for (thunder_tensor* t : log) thunder_tensor_release(t);
    return how;
  }
  std::string seeded() {
    int times = 0;
    compile([&](thunder_scope* s, const thunder_values*) {
      const int64_t state[] = {3, 0}, shape[] = {1};
      ok(thunder_tensor_write(thunder_context_random(context), state, sizeof state));
      return times++, th_rand(s, shape, 1);
    });
    const float first = call(), second = call();
    return first != second && times == 1 ? "once" : "each call";
  }

  thunder_context* context = nullptr;
  thunder_function* function = nullptr;
  thunder_compiled* compiled = nullptr;
  thunder_values *in = nullptr, *out = nullptr;
  thunder_tensor* x = nullptr;
  Body body;
};

TEST_F(HostTable, is_what_happens) {
  using Program = std::string (HostTable::*)();
  const std::map<std::string, Program> programs = {
      {"elements of captured tensors", &HostTable::elements}, {"a float argument", &HostTable::float_argument}, {"`train()`", &HostTable::training},
      {"members and parameters", &HostTable::members}, {"options of layers", &HostTable::options}, {"hooks", &HostTable::number_of_the_callback},
      {"attributes of a module", &HostTable::number_of_the_callback}, {"captured variables", &HostTable::number_of_the_callback},
      {"globals", &HostTable::number_of_the_callback}, {"functions and methods that are defined again", &HostTable::number_of_the_callback},
      {"what lists, dicts, sets", &HostTable::number_of_the_callback}, {"attributes of objects", &HostTable::number_of_the_callback},
      {"tensors that it assigns", &HostTable::kept}, {"tensors that it makes", &HostTable::made}, {"tensors that it puts elsewhere", &HostTable::kept}, {"numbers that it counts", &HostTable::counted},
      {"`seed()`", &HostTable::seeded}, {"files, the clock", &HostTable::counted}};
  std::ifstream file("../docs/compiled-functions.md");
  ASSERT_TRUE(file) << "the page is read from tests/, where CTest runs this";
  std::string line;
  size_t told = 0;
  while (std::getline(file, line) && !line.starts_with("| what the function uses |")) {}
  std::getline(file, line);  // of dashes
  while (std::getline(file, line) && line.starts_with("| ")) {
    const size_t first = line.find(" | "), last = line.rfind(" | ");
    const std::string what = line.substr(2, first - 2), says = line.substr(last + 3, line.size() - last - 5);
    size_t found = 0;
    for (auto& [name, program] : programs) {
      if (!what.starts_with(name)) continue;
      found++;
      EXPECT_EQ((this->*program)(), says) << what;
    }
    EXPECT_EQ(found, 1u) << what;
    told++;
  }
  EXPECT_EQ(told, programs.size());
}

}  // namespace
