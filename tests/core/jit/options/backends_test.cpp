// Backends: which executors are asked first, which passes are left out, and what stays as it is.
#include "jit/options/backends.h"

#include "jit/context/resolve.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

using CompileBackends = CompiledTest;

void softplus_of_double(Scope& s, const Values& in, Values& out) {
  Tensor* x = in[0].tensor.get();
  Tensor* y = op(s, "mul", {any(x), Any::real(1)});
  out.push(Ref<Tensor>(op(s, "softplus", {any(op(s, "add", {any(y), any(y)}))})));
}

std::set<std::string> executors_of(const Trace& trace) {
  std::set<std::string> names;
  for (const Node* n : trace.nodes)
    if (n->executor) names.emplace(n->executor);
  return names;
}

struct Ran {
  Floats values;
  std::set<std::string> executors, passes;
};

void read_traces(const Compiled& f, Ran& out) {
  const std::vector<Trace> traces = f.reports().traces();
  for (const Trace& trace : traces) out.passes.emplace(trace.pass);
  out.executors = executors_of(traces.back());
}

Ran ran(CompiledTest& t, const char* backend) {
  auto options = make<CompileOptions>();
  options->set("backend", Any::string(backend));
  auto x = t.tensor({2}, {0, 1});
  Ran out;
  try {
    auto f = t.compile(softplus_of_double, options.get());
    out.values = t.run(*f, {x.get()});
    if (out.values.empty()) return out;
    read_traces(*f, out);
  } catch (const Error& e) {
    t.error = e.message();
  }
  return out;
}

TEST_F(CompileBackends, give_the_same_values) {
  const Ran own = ran(*this, "thunder");
  ASSERT_EQ(own.values.size(), 2u) << error;
  for (const char* name : {"cudagraphs", "eager", "aot_eager", "host"}) {
    const Ran other = ran(*this, name);
    ASSERT_EQ(other.values.size(), 2u) << name << ": " << error;
    for (size_t i = 0; i < 2; i++) EXPECT_NEAR(other.values[i], own.values[i], 1e-6) << name;
  }
}

TEST_F(CompileBackends, host_runs_each_line_by_its_reference) {
  EXPECT_EQ(ran(*this, "host").executors, (std::set<std::string>{"host"}));
}

TEST_F(CompileBackends, eager_neither_fuses_nor_rewrites) {
  const Ran eager = ran(*this, "eager"), aot = ran(*this, "aot_eager");
  EXPECT_EQ(eager.executors.count("fusion"), 0u);
  EXPECT_EQ(eager.passes.count("algebra"), 0u);
  EXPECT_EQ(aot.executors.count("fusion"), 0u);
  EXPECT_EQ(aot.passes.count("algebra"), 1u);
}

TEST_F(CompileBackends, an_unknown_name_is_refused_with_the_nearest) {
  ran(*this, "eagre");
  EXPECT_NE(error.find("unknown backend 'eagre' (did you mean 'eager'?)"), std::string::npos) << error;
}

TEST_F(CompileBackends, one_that_was_added_leaves_its_passes_out) {
  context->backends().add({.name = "plain", .disabled_passes = {"algebra"}});
  const Ran plain = ran(*this, "plain");
  EXPECT_EQ(plain.passes.count("algebra"), 0u);
  EXPECT_THROW(context->backends().add({.name = "plain"}), Error);
  EXPECT_THROW(context->backends().add({}), Error);
}

TEST_F(CompileBackends, an_executor_that_is_not_there_is_named) {
  context->backends().add({.name = "far", .executors = {"nowhere"}});
  ran(*this, "far");
  EXPECT_NE(error.find("backend 'far': executor 'nowhere' is not available here"), std::string::npos) << error;
}

}  // namespace
}  // namespace thunder::test
