// In whose memory results lie: a view's in that of what it is given, all others in their own, however the op is run.
// What is written behind a call shows it.
#include "battery/battery.h"
#include "tracer/eager.h"

namespace thunder::battery {
namespace {

Any at(Tensor* t) { return Any::tensor(t); }

// Writes into a tensor what no sample holds.
void overwrite(Scope& scope, Tensor* t) {
  const bool boolean = t->type().dtype == DType::boolean;
  const Any args[] = {at(t), boolean ? Any::boolean(true) : Any::real(77)};
  scope.invoke("fill_", args, nullptr, nullptr, 0, nullptr);
}
Tensor* kept(Scope& scope, Tensor* t) {
  const Any x = at(t);
  return scope.invoke("clone", {&x, 1}, nullptr, nullptr, 0, nullptr);
}

struct Memory : Battery {
  // The inputs once result `written` was written.
  static std::vector<Tensor*> write_result(Scope& s, const Case& c, std::span<Tensor* const> in, size_t n, size_t written) {
    overwrite(s, invoke(s, c, in, n)[written]);
    std::vector<Tensor*> out;
    for (Tensor* t : in) out.push_back(kept(s, t));
    return out;
  }
  // The results once an input was written.
  static std::vector<Tensor*> write_input(Scope& s, const Case& c, std::span<Tensor* const> in, size_t n, size_t written) {
    const std::vector<Tensor*> results = invoke(s, c, in, n);
    overwrite(s, in[written]);
    std::vector<Tensor*> out;
    for (Tensor* t : results) out.push_back(kept(s, t));
    return out;
  }

  Outcome eagerly(const Body& body, const Tensors& tensors) {
    reset_random(*context);
    EagerScope scope(context->scope_environment(), false);
    std::vector<Tensor*> in;
    for (auto& t : tensors) in.push_back(t.get());
    const auto results = body(scope, in);
    if (scope.status()) return {{}, {}, scope.status()->code(), scope.status()->message()};
    Outcome out;
    for (Tensor* t : results) out.types.push_back(t->type()), out.values.push_back(numbers_of(*t));
    return out;
  }

  void same(const Case& c, const Body& body, size_t results, std::string_view what) {
    const Outcome eager = eagerly(body, make_tensors(c));
    const Tensors again = make_tensors(c);
    const Outcome compiled = call_compiled(*context, body, again, results, CompileOptions());
    if (!eager.error.empty() && !compiled.error.empty()) return;  // expanded ones are not written
    EXPECT_EQ(disagreement(c, compiled, eager), "") << c.name << ": " << what;
  }

  // What the row says is so where the op runs at once.
  void check_row(const Case& c, size_t n) {
    const Tensors tensors = make_tensors(c);
    std::vector<Tensor*> in;
    for (auto& t : tensors) in.push_back(t.get());
    EagerScope scope(context->scope_environment(), false);
    const auto results = invoke(scope, c, in, n);
    ASSERT_FALSE(scope.status()) << c.name << ": " << scope.status()->message();
    for (size_t i = 0; i < results.size(); i++) {
      const auto shares = [&](auto& t) { return t->storage() == results[i]->storage(); };
      const bool is_view = std::any_of(tensors.begin(), tensors.end(), shares);
      if (!may_view(*c.op)) EXPECT_FALSE(is_view) << c.name << ": result " << i << " lies in what it was given";
      if (!c.op->prim && !(c.op->tags & kView)) {
        EXPECT_FALSE(repeats_elements(*results[i])) << c.name << ": result " << i << " cannot be written";
      }
      if (c.op->tags & kView) EXPECT_TRUE(is_view) << c.name << ": result " << i << " is a copy";
    }
  }

  bool check(const Case& c) {
    const Tensors tensors = make_tensors(c);
    const size_t n = result_count(*context, c, tensors);
    check_row(c, n);
    for (size_t i = 0; i < n; i++)
      same(c, [&, i](Scope& s, std::span<Tensor* const> in) { return write_result(s, c, in, n, i); }, tensors.size(),
           cat("inputs, once result ", i, " was written"));
    for (size_t i = 0; i < tensors.size(); i++)
      same(c, [&, i](Scope& s, std::span<Tensor* const> in) { return write_input(s, c, in, n, i); }, n,
           cat("results, once input ", i, " was written"));
    return !tensors.empty();
  }
};

TEST_F(Memory, of_results_is_what_their_ops_say) {
  each_case("writes behind a call", [&](const Case& c) { return check(c); });
}

// Where an op has nothing to do, and gives what it was given.
TEST_F(Memory, of_results_is_new_where_nothing_was_to_be_computed) {
  using Ints = std::vector<int64_t>;
  const TensorSpec vector{{3}}, matrix{{2, 2}}, number{{}}, whole{{3}, DType::i64, -9, 9}, image{{1, 1, 2, 3}};
  struct Row {
    const char* op;
    std::vector<SampleArg> args;
  };
  const Row rows[] = {
      {"repeat", {vector, Ints{2, 1}}}, {"repeat", {vector, Ints{1}}}, {"tile", {matrix, Ints{1, 1}}},
      {"repeat_interleave", {TensorSpec{{2, 1}}, 2, 1}}, {"repeat_interleave", {vector, 1, 0}},
      {"roll", {matrix, Ints{0}, Ints{0}}}, {"roll", {TensorSpec{{1, 3}}, Ints{1}, Ints{0}}},
      {"pixel_shuffle", {image, 1}}, {"pixel_unshuffle", {image, 1}}, {"channel_shuffle", {image, 1}},
      {"adaptive_avg_pool2d", {image, Ints{2, 3}}}, {"adaptive_max_pool2d", {image, Ints{2, 3}}},
      {"sum", {number}}, {"amax", {number}}, {"amin", {number}}, {"max", {number}}, {"mean", {number}}, {"prod", {number}},
      {"nansum", {number}}, {"aminmax", {number}}, {"logsumexp", {number, Ints{0}}}, {"cumsum", {number, 0}},
      {"sort", {number}}, {"ceil", {whole}}, {"round", {whole}}, {"trunc", {whole}}, {"floor", {whole}},
      {"nan_to_num", {whole}}, {"diff", {vector, 0}}, {"matrix_power", {matrix, 1}}, {"rot90", {matrix, 0}},
      {"flip", {matrix, Ints{}}}, {"cat", {std::vector<TensorSpec>{vector}}}, {"stack", {std::vector<TensorSpec>{vector}}},
      {"hstack", {std::vector<TensorSpec>{vector}}}, {"pad", {vector, Ints{0, 0}}}, {"clamp", {vector, -9.0, 9.0}},
      {"clamp", {vector, NAN}},
      {"interpolate", {image, Ints{2, 3}}}, {"diag", {matrix}}, {"norm", {number}}, {"tril", {matrix, 5}},
      {"max_pool2d", {image, Ints{1}}}, {"avg_pool2d", {image, Ints{1}}}, {"pow", {vector, 1}}, {"mul", {vector, 1}},
      {"dropout", {vector, 1.0}}, {"dropout2d", {image, 1.0}}, {"alpha_dropout", {vector, 1.0, true}},
      {"adaptive_max_pool2d_with_indices", {TensorSpec{{2, 1, 2, 3}}, Ints{2, 3}}}, {"max", {number, 0}}, {"min", {number, 0}},
      {"renorm", {matrix, 2.0, 0, 1e9}}, {"conj", {vector}}, {"reshape", {vector, Ints{3}}},
  };
  for (const Row& r : rows) {
    const OpDef& op = context->registry().get(r.op);
    Case c{&op, {r.args, false, false}, cat(r.op, " that has nothing to do"), ""};
    check(c);
  }
}

}  // namespace
}  // namespace thunder::battery
