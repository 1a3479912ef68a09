#include "tensor/csv.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/bytes.h"
#include "support/failure.h"
#include "support/tensors.h"

namespace thunder {
namespace {

using Header = CsvOptions::Header;

Csv load(const std::string& text, const CsvOptions& options = {}) {
  Folder folder;
  write_file(folder / "x.csv", text);
  return load_csv(folder / "x.csv", options, default_allocator());
}
std::string refusal(const std::string& text, const CsvOptions& options = {}) {
  return failure_of([&] { load(text, options); });
}
std::vector<float> floats(const std::string& text) { return values_of<float>(*load(text).values); }

TEST(Csv, reads_rows_and_columns) {
  auto csv = load("1,2,3\n4,5,6\n");
  EXPECT_EQ(name(csv.values->type()), "f32[2, 3]");
  EXPECT_EQ(values_of<float>(*csv.values), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(csv.columns.empty());
}

TEST(Csv, accepts_every_line_end_blank_lines_and_a_mark) {
  for (const char* text : {"1,2\n3,4", "1,2\r\n3,4\r\n", "1,2\r3,4\r", "\n\n1,2\n\n3,4\n\n", "\xef\xbb\xbf" "1,2\n3,4"})
    EXPECT_EQ(floats(text), (std::vector<float>{1, 2, 3, 4})) << text;
}

TEST(Csv, reads_numbers_as_they_are_written) {
  EXPECT_EQ(floats(" 1 ,+2,-3.5,1e3,.5,\"7\",inf"), (std::vector<float>{1, 2, -3.5, 1000, .5, 7, INFINITY}));
  EXPECT_TRUE(std::isnan(floats("1,nan")[1]));
  EXPECT_EQ(values_of<double>(*load("0.1", {.dtype = DType::f64}).values), std::vector<double>{0.1});
  // Just above the middle of two floats; a double in between would drop that and round to even.
  EXPECT_EQ(floats("16777217.0000000001"), std::vector<float>{16777218});
}

TEST(Csv, finds_a_header_by_its_text) {
  auto csv = load("x,\"y, or \"\"why\"\"\"\n1,2\n");
  EXPECT_EQ(csv.columns, (std::vector<std::string>{"x", "y, or \"why\""}));
  EXPECT_EQ(values_of<float>(*csv.values), (std::vector<float>{1, 2}));
  EXPECT_EQ(load("1,2\n3,4\n", {.header = Header::yes}).columns, (std::vector<std::string>{"1", "2"}));
  EXPECT_PRED2(contains, refusal("x,y\n1,2\n", {.header = Header::no}), "line 1, column 1: expected a number, got 'x'");
}

// One cell that is no number makes no header, in the first row as in any other: no row vanishes.
TEST(Csv, takes_a_mistyped_number_for_no_name) {
  EXPECT_PRED2(contains, refusal("1.0,1O.5\n2.0,3.0\n"), "line 1, column 2: expected a number, got '1O.5'; a row of names has no numbers");
  EXPECT_PRED2(contains, refusal("year,2019,2020\n1,2,3\n"), "line 1, column 1: expected a number, got 'year'");
  EXPECT_EQ(load("year,2019\n1,2\n", {.header = Header::yes}).columns, (std::vector<std::string>{"year", "2019"}));
  EXPECT_EQ(load("a,,b\n1,2,3\n").columns, (std::vector<std::string>{"a", "", "b"}));
}

TEST(Csv, takes_other_separators) {
  EXPECT_EQ(values_of<float>(*load("1;2\n", {.separator = ';'}).values), (std::vector<float>{1, 2}));
  EXPECT_EQ(values_of<float>(*load("1\t2\n", {.separator = '\t'}).values), (std::vector<float>{1, 2}));
  EXPECT_PRED2(contains, refusal("1.2", {.separator = '.'}), "'.' cannot separate numbers");
}

TEST(Csv, names_line_and_column_of_what_it_refuses) {
  EXPECT_PRED2(contains, refusal("1,2\n3,4\n5,six\n"), "line 3, column 2: expected a number, got 'six'");
  EXPECT_PRED2(contains, refusal("1,2\n3\n"), "line 2, column 1: expected 2 columns, found 1");
  EXPECT_PRED2(contains, refusal("1,2\n3,4,5\n"), "expected 2 columns, found 3");
  EXPECT_PRED2(contains, refusal("1,,3\n"), "line 1, column 2: expected a number, got ''");
  EXPECT_PRED2(contains, refusal("1\n1.5x\n"), "got '1.5x'");
  EXPECT_PRED2(contains, refusal("1\n1e39\n"), "'1e39' is out of range of f32");
  EXPECT_PRED2(contains, refusal("\"a\nb\",c\n1,\"2\n"), "line 3, column 2: a quote is never closed");
  EXPECT_PRED2(contains, refusal("1,\"2\"3\n"), "text after a closing quote");
  EXPECT_PRED2(contains, refusal("1\n+-2\n"), "got '+-2'");
  EXPECT_PRED2(contains, refusal("1\n" + std::string(1000, 'x')), "got '" + std::string(40, 'x') + "'");
}

TEST(Csv, may_be_empty) {
  EXPECT_EQ(name(load("").values->type()), "f32[0, 0]");
  EXPECT_EQ(name(load("a,b\n").values->type()), "f32[0, 2]");
}

TEST(Csv, refuses_other_dtypes) {
  EXPECT_PRED2(contains, refusal("1", {.dtype = DType::i32}), "as f32 or f64, not as i32");
}

TEST(Csv, survives_damage_at_every_byte) {
  expect_survives_damage(
      "a,\"b\"\n1,2.5\r\n-3,\"4\"\n", [](const std::string& path) { load_csv(path, {}, default_allocator()); }, true);
}

}  // namespace
}  // namespace thunder
