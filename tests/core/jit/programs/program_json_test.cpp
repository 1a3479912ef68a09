// Leaves and programs as JSON: what is written is read back, and nothing else is read.
// covers: core/jit/saved/saved_function.cpp
#include "jit/programs/program_json.h"

#include <cmath>
#include <limits>

#include "jit/saved/saved_function.h"
#include "support/failure.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

SavedProgram with_constants() {
  SavedProgram p;
  p.structure = "*,*,*,*,*,*,*,*,*,*";
  p.inputs.resize(10);
  const auto constant = [&](size_t i, ArgKind kind) -> Leaf& {
    p.inputs[i].constant.kind = kind;
    return p.inputs[i].constant;
  };
  constant(0, ArgKind::none);
  constant(1, ArgKind::integer).i = std::numeric_limits<int64_t>::min();
  constant(2, ArgKind::boolean).i = 1;
  constant(3, ArgKind::string).text = "\"\\\n\xc3\xa9";
  constant(4, ArgKind::dims).ints = {-1, int64_t{1} << 60};
  constant(5, ArgKind::reals).reals = {0.1, -std::numeric_limits<double>::infinity(), 5e-324};
  constant(6, ArgKind::dtype).i = static_cast<int64_t>(DType::bf16);
  constant(7, ArgKind::device).i = static_cast<int64_t>(Device::cpu);
  p.inputs[8] = {0, {1, 7}, {}, {}};
  p.inputs[9] = {1, {}, std::nan(""), {}};
  p.results.resize(2);
  p.results[0].output = 0;
  p.results[1].constant = p.inputs[1].constant;
  p.result_structure = "[*,*]";
  return p;
}

TEST(ProgramJson, reads_back_what_was_written) {
  const SavedProgram p = with_constants();
  const std::string names[] = {"", "fc1.weight", "a\"b"};
  const std::string text = program_json(p, names);
  SavedProgram read;
  const std::vector<std::string> found = read_program(text, read);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), std::begin(names), std::end(names)));
  EXPECT_EQ(program_json(read, found), text);
  EXPECT_EQ(read.inputs[1].constant.i, p.inputs[1].constant.i);
  EXPECT_EQ(read.inputs[3].constant.text, p.inputs[3].constant.text);
  EXPECT_EQ(read.inputs[5].constant.reals, p.inputs[5].constant.reals);
  EXPECT_TRUE(std::isnan(*read.inputs[9].value));
}

TEST(ProgramJson, reads_back_names) {
  const std::vector<std::string> names = {"batch", "", "a \"quoted\" \xc3\xa9"};
  EXPECT_EQ(read_names(names_json(names)), names);
  EXPECT_PRED2(contains, failure_of([] { read_names("{}"); }), "a list was expected");
  EXPECT_NE(failure_of([] { read_names("[1]"); }), "no error");
}

TEST(ProgramJson, refuses_anything_else) {
  const auto refusal = [](std::string_view inputs) {
    return failure_of([&] {
      SavedProgram p;
      read_program(cat("{\"structure\":\"\",\"inputs\":[", inputs, "],\"result_structure\":\"\",\"results\":[],\"tensors\":[]}"), p);
    });
  };
  EXPECT_EQ(refusal(""), "no error");
  EXPECT_PRED2(contains, refusal("1"), "an object was expected");
  EXPECT_PRED2(contains, refusal(R"({"kind":"integer","value":"1.5"})"), "'1.5' is not a number that was expected");
  EXPECT_PRED2(contains, refusal(R"({"kind":"integer","value":1})"), "a string was expected");
  EXPECT_PRED2(contains, refusal(R"({"kind":"tensor","value":"1"})"), "'tensor' is no kind");
  EXPECT_PRED2(contains, refusal(R"({"kind":"none","kind":"none"})"), "'kind' is given twice");
  EXPECT_PRED2(contains, refusal(R"({"kind":"input","place":"0"})"), "places count from 1");
  EXPECT_PRED2(contains, refusal(R"({"kind":"input","place":"1","stride":[]})"), "'stride' is no field");
  EXPECT_PRED2(contains, refusal(R"({"kind":"boolean","value":"2"})"), "a boolean is 0 or 1");
  EXPECT_PRED2(contains, refusal(R"({"kind":"dtype","value":"1"})"), "there is no dtype 1");
  EXPECT_PRED2(contains, refusal(R"({"kind":"string","value":"a\u0000"})"), "without zeros");
  EXPECT_PRED2(contains, refusal("{"), "it is not JSON");
}

TEST(ProgramJson, keeps_options_by_name_and_kind) {
  CompileOptions options, read;
  options.set("executors", Any::string("host"));
  options.set("verify", Any::boolean(true));
  options.set("recompile_limit", Any::integer(3));
  read_options(options_json(options), read);
  EXPECT_EQ(options_json(read), options_json(options));
  EXPECT_EQ(read.integer("recompile_limit", 0), 3);
  EXPECT_PRED2(contains, failure_of([&] { read_options("[]", read); }), "an object was expected");
}

}  // namespace
}  // namespace thunder::test
