// Libraries that are opened at run time.
#include "base/shared_library.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace thunder {
namespace {

TEST(SharedLibrary, finds_the_functions_of_a_library_by_its_versioned_name) {
  constexpr std::array names = {"libthunder_no_such_thing.so.9", "libm.so.6"};
  const SharedLibrary library({nullptr, names});
  ASSERT_TRUE(library.opened()) << library.report();
  EXPECT_NE(library.path().find("libm.so.6"), std::string::npos);
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(library.find("cos", cosine));
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(library.find("no_such_function"), nullptr);
}

TEST(SharedLibrary, says_what_was_tried_and_which_variable_helps) {
  constexpr std::array names = {"libthunder_no_such_thing.so.9", "libthunder_no_such_thing.so.8"};
  const SharedLibrary library({"THUNDER_NO_SUCH_THING", names});
  EXPECT_FALSE(library.opened());
  EXPECT_EQ(library.find("cos"), nullptr);
  for (const char* part : {"libthunder_no_such_thing.so.9", "libthunder_no_such_thing.so.8", "THUNDER_NO_SUCH_THING"})
    EXPECT_NE(library.report().find(part), std::string::npos) << library.report();
}

TEST(SharedLibrary, opens_nothing_but_the_file_that_a_variable_names) {
  constexpr std::array names = {"libm.so.6"};
  ::setenv("THUNDER_LIBRARY_UNDER_TEST", "no/such/file.so", 1);
  EXPECT_FALSE(SharedLibrary({"THUNDER_LIBRARY_UNDER_TEST", names}).opened());
  ::setenv("THUNDER_LIBRARY_UNDER_TEST", "", 1);
  EXPECT_TRUE(SharedLibrary({"THUNDER_LIBRARY_UNDER_TEST", names}).opened());
  ::unsetenv("THUNDER_LIBRARY_UNDER_TEST");
}

}  // namespace
}  // namespace thunder
