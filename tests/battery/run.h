// One op on one sample: its input tensors in a layout, and its results eagerly, traced, compiled and by its oracle.
#pragma once

#include <functional>

#include "battery/oracle.h"
#include "jit/call.h"
#include "ops/samples.h"

namespace thunder::battery {

// An op and the arguments of one call; the name says which for messages: "add sample 3".
struct Case {
  const OpDef* op = nullptr;
  Sample sample;
  std::string name;
  std::string word;  // of the refusal that it must meet; empty when it must work
  bool in_place = false;  // the form NAME_, which writes its first argument
};
std::vector<Case> accepted_cases(const OpDef& op);
std::vector<Case> refused_cases(const OpDef& op);
// The case with every tensor's spec changed.
Case changed(Case c, const std::function<void(TensorSpec&)>& change);
// Reals become `dtype`, also where a dtype is an argument.
Case with_reals(Case c, DType dtype);
// Reals take the dtype. Drawn ranges are kept where the dtype can hold them.
Case in_dtype(const Case& c, DType dtype);
// Dim 0 of every tensor becomes 0.
Case without_elements(const Case& c);

// How a tensor lies in its storage. `expanded` repeats one slice of dim 0 in a stride of 0.
enum class Layout { dense, transposed, offset, expanded };

using Tensors = std::vector<Ref<Tensor>>;
Tensors make_tensors(const Case& c, Layout layout = Layout::dense);
// The same elements in other places; not for Layout::expanded.
Ref<Tensor> laid_out(const Tensor& dense, Layout layout);
Ref<Tensor> dense_copy(const Tensor& t);
Ref<Tensor> tensor_of(const Ints& shape, DType dtype, const std::vector<double>& values);
std::vector<double> numbers_of(const Tensor& t);

struct Outcome {
  std::vector<TensorType> types;
  std::vector<std::vector<double>> values;
  Code code = Code::ok;
  std::string error;  // empty: it worked
};

// What is given without a tensor in it; borrowed from the sample.
Any plain(const SampleArg& given);
// Calls the op with `tensors` standing for the sample's, in order.
std::vector<Tensor*> invoke(Scope& scope, const Case& c, std::span<Tensor* const> tensors, size_t n_results);
size_t result_count(Context& context, const Case& c, const Tensors& tensors);

// The same random draws in each run.
void reset_random(Context& context);
Outcome run_eager(Context& context, const Case& c, const Tensors& tensors);
Outcome run_compiled(Context& context, const Case& c, const Tensors& tensors, size_t n_results, std::string_view disabled_passes = "");
// Types only.
Outcome run_traced(Context& context, const Case& c, const Tensors& tensors, size_t n_results);

// Compiles `body` of plain tensors, every stage verified, and calls it once.
using Body = std::function<std::vector<Tensor*>(Scope&, std::span<Tensor* const>)>;
Outcome call_compiled(Context& context, Body body, const Tensors& tensors, size_t n_results, const CompileOptions& options);
// The same program called with each of these, of which each finds what those before left.
std::vector<Outcome> calls_compiled(Context& context, Body body, std::span<const Tensors> calls, size_t n_results, const CompileOptions& options);

// Of the op, or of the op that it is another name of with the same arguments.
Oracle oracle_of(const OpDef& op);
Arguments oracle_arguments(const Case& c, const Tensors& tensors);

// ---- comparing ----

// What a double becomes when it is stored in the dtype; integers are truncated and wrap around.
double stored_as(double v, DType dtype);
// The relative error that a result of the dtype may have.
double tolerance_of(DType dtype);
// Empty, or the first difference. NaN equals NaN; others relative to the largest finite number of the expected, or to
// `least` where that is larger.
std::string difference(const std::vector<double>& got, const std::vector<double>& expected, double tolerance, double least = 0);
std::string difference(const Outcome& got, const Outcome& expected, double tolerance_scale = 1, double least = 0);
std::string difference(const Outcome& got, const Arrays& expected);

// Whether a recorded call was refused since the shapes of its results depend on values; only ops that say so may do it.
bool needs_values(const Case& c, const Outcome& recorded);
// The difference of a compiled call from an eager one, beside that.
std::string disagreement(const Case& c, const Outcome& compiled, const Outcome& eager);

// Optional passes, each of which may be left out.
std::vector<std::string> optional_passes();

}  // namespace thunder::battery
