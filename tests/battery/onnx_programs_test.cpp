// Random programs in ONNX Runtime: exported whole, and by regions. Without ONNX Runtime they are skipped.
#include <fstream>
#include <iostream>

#include "base/files.h"
#include "base/text.h"
#include "battery/battery.h"
#include "battery/program_outcomes.h"
#include "executors/engines.h"
#include "executors/onnxrt/session.h"
#include "jit/programs/export_onnx.h"
#include "jit/programs/load_program.h"
#include "support/folder.h"
#include "support/functions.h"

namespace thunder::battery {
namespace {

constexpr double kTolerance = 1e-4;
// THUNDER_ONNX_PROGRAMS says another number.
constexpr uint64_t kPrograms = 60;

struct OnnxPrograms : Battery {
  Folder folder;
  const onnxrt::Runtime* runtime = nullptr;
  uint64_t exported = 0;
  Outcome loaded;  // of the last one
  std::map<std::string, int> ours, theirs;  // refusals of the exporter and of ONNX Runtime, by what they say

  void SetUp() override {
    std::string found;
    runtime = onnxrt::Runtime::open(found);
    if (!runtime) GTEST_SKIP() << found;
  }

  // The program as a model in ONNX Runtime. Nothing: ONNX has no op for one of its lines.
  std::optional<Outcome> in_onnx_runtime(Body body, const Tensors& inputs, size_t n_results, const std::string& name) {
    const auto traced = [&](Scope& s, const Values& in, Values& out) {
      std::vector<Tensor*> given;
      for (size_t i = 0; i < in.size(); i++) given.push_back(in[i].tensor.get());
      for (Tensor* t : body(s, given)) out.push(Ref<Tensor>(t));
    };
    CompileOptions options;
    options.set("executors", Any::string("host"));
    const auto compiled = thunder::make<Compiled>(Ref<Context>(context), Ref<Function>::adopt(new test::Lambda(traced)), &options);
    auto in = thunder::make<Values>();
    for (const Ref<Tensor>& t : inputs) in->push(t);
    if (Status* failed = compiled->prepare(*in)) throw Error(Ref<Status>::adopt(failed));
    const std::string path = folder / (name + ".onnx");
    try {
      export_onnx(*compiled, path, nullptr);
    } catch (const Error& e) {
      if (e.code() != Code::unimplemented) throw;
      ours[e.message().substr(0, e.message().find("; "))]++;
      return std::nullopt;
    }
    if (const char* kept = std::getenv("THUNDER_ONNX_FOLDER"))
      std::filesystem::copy_file(path, cat(kept, "/", name, ".onnx"), std::filesystem::copy_options::overwrite_existing);
    const std::string bytes = read_file(path, uint64_t{1} << 30);
    loaded = loaded_back(bytes, inputs);
    Outcome made = outcome_of(bytes, compiled->reports().traces()[0], inputs, n_results);
    // The standard has the op of this type, but ONNX Runtime no kernel for it.
    if (const size_t at = made.error.find("Could not find an implementation for "); at != made.error.npos) {
      theirs[made.error.substr(at, made.error.find(" node", at) - at)]++;
      return std::nullopt;
    }
    exported++;
    return made;
  }

  // What the model computes as a function of ours.
  Outcome loaded_back(const std::string& bytes, const Tensors& inputs) {
    Outcome made;
    try {
      CompileOptions options;
      options.set("executors", Any::string("host"));
      const LoadedProgram p = load_program(Ref<Context>(context), std::as_bytes(std::span(bytes)), &options);
      auto in = thunder::make<Values>(), out = thunder::make<Values>();
      for (const Ref<Tensor>& t : inputs) in->push(t);
      const auto f = thunder::make<Compiled>(Ref<Context>(context), p.function, p.options.get());
      if (Status* failed = f->call(*in, *out)) throw Error(Ref<Status>::adopt(failed));
      for (size_t i = 0; i < out->size(); i++) made.values.push_back(numbers_of(*(*out)[i].tensor));
    } catch (const Error& e) {
      made.code = e.code(), made.error = e.message();
    }
    return made;
  }

  Outcome outcome_of(const std::string& model, const Trace& trace, const Tensors& inputs, size_t n_results) {
    std::vector<std::string> names, outputs;
    std::vector<Ref<Tensor>> dense, results;
    std::vector<Buffer> in, out;
    for (size_t i = 0; i < inputs.size(); i++) {
      names.push_back(inputs.size() == 1 ? "input" : cat("input_", i));
      dense.push_back(dense_copy(*inputs[i]));
      in.push_back(dense.back()->buffer());
    }
    const auto add = [&](const std::string& name, const TensorType& type) {
      outputs.push_back(name);
      results.push_back(Tensor::empty(default_allocator(), type));
      out.push_back(results.back()->buffer());
    };
    for (size_t i = 0; i < n_results; i++)
      add(n_results == 1 ? "output" : cat("output_", i), trace.type(trace.outputs[i]));
    for (const Write& w : trace.writes) add(names[trace.inputs[w.input].index] + ".new", trace.type(w.value));
    Outcome made;
    try {
      const onnxrt::Session session(*runtime, model, names, outputs, {}, 1);
      if (Status* failed = session.run(in, out)) throw Error(Ref<Status>::adopt(failed));
    } catch (const Error& e) {
      made.code = e.code(), made.error = e.message();
      return made;
    }
    for (const Ref<Tensor>& t : results) made.types.push_back(t->type()), made.values.push_back(numbers_of(*t));
    return made;
  }
};

// How far what was computed is from what is expected; the state that a program left counts where it wrote it.
std::string apart(const Outcome& got, const Outcome& expected) {
  if (!got.error.empty()) return got.error;
  for (size_t i = 0; i < got.values.size(); i++)
    if (const std::string found = difference(got.values[i], expected.values[i], kTolerance, kLeast); !found.empty())
      return cat("result ", i, ": ", found);
  return "";
}

TEST_F(OnnxPrograms, mean_the_same_in_onnx_runtime) {
  const uint64_t last = number_from("THUNDER_ONNX_PROGRAMS", kPrograms);
  int failures = 0;
  for (uint64_t seed = 1; seed <= last && failures < 5; seed++) {
    const Program p = random_program(seed);
    const Outcome expected = taped(*context, p, program_inputs(p, seed));
    ASSERT_EQ(expected.error, "");
    const auto body = [&](Scope& s, std::span<Tensor* const> in) { return run_program(p, s, in); };
    const auto got = in_onnx_runtime(body, program_inputs(p, seed), expected.types.size() - 1, cat("program_", seed));
    if (!got) continue;
    for (const auto& [where, outcome] : {std::pair{"ONNX Runtime", &*got}, {"loaded back", &loaded}}) {
      const std::string found = apart(*outcome, expected);
      if (!found.empty() && outcome->error.empty() && amplifies(*context, seed, p, expected)) continue;
      EXPECT_EQ(found, "") << where << ", seed " << seed << "\n" << p.text();
      failures += !found.empty();
    }
  }
  for (const auto& [said, count] : ours) std::cout << count << " refused by the exporter: " << said << "\n";
  for (const auto& [said, count] : theirs) std::cout << count << " refused by ONNX Runtime: " << said << "\n";
  EXPECT_GE(exported * 10, last * 9);
  tally()["programs in ONNX Runtime"] += exported;
}

struct EnginePrograms : Battery, testing::WithParamInterface<EngineRow> {};

TEST_P(EnginePrograms, mean_the_same_where_an_engine_is_an_executor) {
  if (std::string found; !GetParam().open("", found)) GTEST_SKIP() << found;
  const uint64_t last = number_from("THUNDER_ONNX_PROGRAMS", kPrograms);
  int failures = 0;
  for (uint64_t seed = 1; seed <= last && failures < 5; seed++) {
    const Program p = random_program(seed);
    const Outcome expected = taped(*context, p, program_inputs(p, seed));
    CompileOptions options;
    options.set("executors", Any::string(GetParam().executor));
    const auto body = [&](Scope& s, std::span<Tensor* const> in) { return run_program(p, s, in); };
    const Tensors inputs = program_inputs(p, seed);
    const Outcome got = with_state(call_compiled(*context, body, inputs, expected.types.size() - 1, options), inputs);
    const std::string found = apart(got, expected);
    if (!found.empty() && got.error.empty() && amplifies(*context, seed, p, expected)) continue;
    EXPECT_EQ(found, "") << "seed " << seed << "\n" << p.text();
    failures += !found.empty();
  }
}
INSTANTIATE_TEST_SUITE_P(All, EnginePrograms, testing::ValuesIn(engines().begin(), engines().end()),
                         [](const auto& info) { return std::string(info.param.executor); });

}  // namespace
}  // namespace thunder::battery
