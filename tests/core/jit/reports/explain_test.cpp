// Every stage of a compile, and every report, can be asked for by name.
#include "jit/reports/explain.h"

#include "compile/stages.h"
#include "support/functions.h"
#include "support/pieces.h"

namespace thunder::test {
namespace {

using Explain = CompiledTest;

void normalised(Scope& s, const Values& in, Values& out) {
  Tensor* x = in[0].tensor.get();
  Tensor* e = op(s, "exp", {any(op(s, "mul", {any(x), any(x)}))});
  out.push(Ref<Tensor>(op(s, "div", {any(e), any(op(s, "sum", {any(e)}))})));
}

TEST_F(Explain, has_a_text_for_every_stage_of_the_table) {
  Pieces choice;
  auto options = make<CompileOptions>();
  options->add_executor(pieces_executor(choice));
  auto f = compile(normalised, options.get());
  for (const StageRow& row : stages()) EXPECT_EQ(explain(*f, row.name), "") << row.name << " before there is a program";
  run(*f, {tensor({3}, {1, 2, 3}).get()});
  for (const StageRow& row : stages()) EXPECT_NE(explain(*f, row.name), "") << row.name;
  EXPECT_EQ(explain(*f, "descend").find("region"), std::string::npos);
  EXPECT_NE(explain(*f, "form_regions").find("do  -- region"), std::string::npos) << explain(*f, "form_regions");
}

TEST_F(Explain, lists_the_stages_that_ran_with_their_reasons) {
  Pieces choice;
  auto options = make<CompileOptions>();
  options->add_executor(pieces_executor(choice));
  options->set("disable_passes", Any::string("form_regions, fold"));
  auto f = compile(normalised, options.get());
  run(*f, {tensor({3}, {1, 2, 3}).get()});
  const std::string all = explain(*f, "stages");
  EXPECT_NE(all.find("descend: "), std::string::npos);
  EXPECT_NE(all.find(stages()[0].why), std::string::npos);
  EXPECT_EQ(all.find("form_regions: "), std::string::npos);
  EXPECT_EQ(explain(*f, "form_regions"), "-- form_regions was left out\n");
  EXPECT_EQ(explain(*f, "merge_siblings").find("region"), std::string::npos);
}

TEST_F(Explain, names_the_nearest_of_a_name_that_is_unknown) {
  auto f = compile(normalised);
  try {
    explain(*f, "clam");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.message()).find("did you mean 'claim'?"), std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace thunder::test
