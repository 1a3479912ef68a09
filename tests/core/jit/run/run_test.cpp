// Binding: what a call checks and what it hands to the program.
#include "support/function_kernel.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

using Binds = CompiledTest;

TEST_F(Binds, refuses_an_argument_that_overlaps_a_written_capture) {
  auto w = tensor({2}, {1, 1});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    op(s, "add_", {any(w.get()), any(in[0].tensor.get())});
    out.push(in[0].tensor);
  });
  auto x = tensor({2}, {2, 3});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{2, 3})) << error;
  EXPECT_TRUE(run(*f, {w.get()}).empty());
  EXPECT_NE(error.find("overlap"), std::string::npos) << error;
  EXPECT_EQ(data(*w), (Floats{3, 4}));
}

TEST_F(Binds, copies_into_a_bound_result_that_overlaps_an_input) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "add", {any(in[0].tensor.get()), any(in[0].tensor.get())})));
  });
  auto x = tensor({3}, {1, 2, 3});
  Values in, out;
  in.push(x);
  out.bind(0, x);
  ASSERT_EQ(f->call(in, out), nullptr);
  EXPECT_EQ(data(*x), (Floats{2, 4, 6}));
  EXPECT_EQ(out[0].tensor.get(), x.get());
}

TEST_F(Binds, takes_captured_tensors_of_no_elements) {
  auto none = tensor({0}, {});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* both[] = {none.get(), in[0].tensor.get()};
    Any list;
    list.kind = ArgKind::values, list.count = 2, list.ts = both;
    out.push(Ref<Tensor>(op(s, "cat", {list})));
  });
  auto x = tensor({2}, {4, 5});
  EXPECT_EQ(run(*f, {x.get()}), (Floats{4, 5})) << error;
}

// An executor that notes the stream of its launches.
struct Streams {
  std::vector<void*> seen;
  Ref<Executor> executor() {
    ExecutorDesc d;
    d.name = "streams";
    d.ops = {"prims.neg"};
    d.user = this;
    d.prepare = runs_on_user<run>;
    return make<Executor>(std::move(d));
  }
  static Status* run(const Launch* l, void* state) {
    static_cast<Streams*>(state)->seen.push_back(l->native_stream);
    return nullptr;
  }
};

// A stream is a device's: on the CPU, work is done when the call returns.
TEST_F(Binds, gives_lines_on_the_cpu_no_stream) {
  Streams streams;
  CompileOptions options;
  options.add_executor(streams.executor());
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor.get())}))); }, &options);
  Values in, out;
  in.push(tensor({1}, {1}));
  int stream = 0;
  for (void* s : {static_cast<void*>(nullptr), static_cast<void*>(&stream)}) ASSERT_EQ(f->call(in, out, s), nullptr);
  EXPECT_EQ(streams.seen, (std::vector<void*>{nullptr, nullptr}));
}

struct Parts {
  std::atomic<int> parts{0};
  static Status* run(const Launch* l, void* state) {
    return l->parallel_for(l, 100, 1, [](int64_t, int64_t, void* self) -> Status* { return static_cast<Parts*>(self)->parts++, nullptr; }, state);
  }
};

TEST_F(Binds, divides_loops_among_the_contexts_threads) {
  Parts parts;
  ExecutorDesc d;
  d.name = "parts";
  d.ops = {"prims.neg"};
  d.user = &parts;
  d.prepare = runs_on_user<Parts::run>;
  CompileOptions options;
  options.add_executor(make<Executor>(std::move(d)));
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "neg", {any(in[0].tensor.get())}))); }, &options);
  auto x = tensor({1}, {1});
  context->use_threads(3);
  EXPECT_FALSE(run(*f, {x.get()}).empty()) << error;
  EXPECT_EQ(parts.parts, 3);
  context->use_threads(1);
  EXPECT_FALSE(run(*f, {x.get()}).empty()) << error;
  EXPECT_EQ(parts.parts, 4);
}

}  // namespace
}  // namespace thunder::test
