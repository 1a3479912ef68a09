// A scope over a recorder: what it records, and what it refuses to let in.
#include "tracer/builder_scope.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "support/traces.h"

namespace thunder {
namespace {

struct BuilderScopeTest : testing::Test {
  tests::TraceMaker m;
  Var x = m.input("x", {2});
  ScopeEnvironment environment;
  void SetUp() override {
    environment.registry = &m.registry;
    environment.allocator = default_allocator();
  }
  Tensor* op(Scope& s, std::string_view name, std::vector<Any> args) { return s.invoke(name, args, nullptr, nullptr, 0, nullptr); }
};

TEST_F(BuilderScopeTest, records_through_the_builder) {
  BuilderScope scope(environment, m.recorder, "it");
  Values out;
  out.push(Ref<Tensor>(op(scope, "neg", {Any::tensor(scope.wrap(x.id))})));
  const Results results = scope.results(out);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(m.recorder.nodes().back()->results[0], results[0]);
}

TEST_F(BuilderScopeTest, expires_its_proxies) {
  Ref<Tensor> kept;
  {
    BuilderScope scope(environment, m.recorder, "it");
    kept = Ref<Tensor>(scope.wrap(x.id));
  }
  BuilderScope scope(environment, m.recorder, "it");
  op(scope, "neg", {Any::tensor(kept.get())});
  ASSERT_TRUE(scope.status());
  EXPECT_EQ(scope.status()->code(), Code::expired);
}

TEST_F(BuilderScopeTest, rejects_tensors_that_it_was_not_given) {
  auto concrete = Tensor::empty(default_allocator(), tests::tensor_type({2}));
  for (const char* name : {"neg", "neg_"}) {
    BuilderScope scope(environment, m.recorder, "it");
    op(scope, name, {Any::tensor(concrete.get())});
    EXPECT_EQ(scope.status()->message(), cat(name, ": it uses a tensor that it was not given; make it an argument"));
  }
  BuilderScope scope(environment, m.recorder, "it"), other(environment, m.recorder, "other");
  op(scope, "neg", {Any::tensor(other.wrap(x.id))});
  EXPECT_NE(scope.status()->message().find("a proxy of another function"), std::string::npos);
  op(other, "neg_", {Any::tensor(other.wrap(x.id))});
  EXPECT_NE(other.status()->message().find("writes a tensor in place"), std::string::npos);
}

}  // namespace
}  // namespace thunder
