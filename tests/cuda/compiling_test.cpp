// Machine code of several texts at a time (cubins).
// covers: core/device/cuda/cubins.cpp
#include "device/cuda/cubins.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/entropy.h"
#include "base/status.h"
#include "base/text.h"
#include "jit/programs/cache_artifacts.h"

namespace thunder::test {
namespace {

std::string kernel(int number) { return cat("extern \"C\" __global__ void k", number, "(int* out) { *out = ", number, "; }\n"); }

TEST(Cubins, of_texts_that_were_begun_and_that_were_not_are_the_same) {
  for (const size_t threads : {1, 4}) {
    nvidia::Cubins cubins(9, 0, threads), alone(9, 0, 1);
    for (int i = 0; i < 6; i++) cubins.begin(kernel(i));
    cubins.begin(kernel(0));
    for (int i = 5; i >= 0; i--) {
      const std::string code = cubins.get(kernel(i));
      EXPECT_FALSE(code.empty());
      EXPECT_EQ(code, alone.get(kernel(i)));
    }
    EXPECT_FALSE(cubins.get(kernel(6)).empty());
  }
}

TEST(Cubins, of_a_text_that_is_refused_are_an_error_for_who_asks) {
  nvidia::Cubins cubins(9, 0, 3);
  const std::string wrong = "extern \"C\" __global__ void wrong(int* out) { *out = nothing; }\n";
  cubins.begin(wrong), cubins.begin(kernel(7));
  for (int again = 0; again < 2; again++) {
    try {
      cubins.get(wrong);
      ADD_FAILURE() << "it was compiled";
    } catch (const Error& e) {
      EXPECT_NE(e.message().find("nothing"), std::string::npos) << e.message();
    }
  }
  EXPECT_FALSE(cubins.get(kernel(7)).empty());
}

// Whatever another process made is taken as it is: so it must have been.
TEST(Cubins, are_carried_to_another_process_by_cache_artifacts_and_taken_in_place_of_compiling) {
  nvidia::Cubins cubins(9, 0, 1);
  const std::string code = cubins.get(kernel(50));
  Machine machine;
  ArtifactCounts saved;
  Artifacts artifacts = unpack(save_cache_artifacts(machine, saved), "it");
  EXPECT_GE(saved.cuda_kernels, 1u);
  const auto made = std::find_if(artifacts.entries.begin(), artifacts.entries.end(), [](const Artifact& a) {
    return a.kind == "cuda kernel" && a.key.ends_with(kernel(50));
  });
  ASSERT_NE(made, artifacts.entries.end());
  EXPECT_EQ(made->blob, code);
  made->blob = "of another process";
  EXPECT_EQ(load_cache_artifacts(machine, pack(artifacts)).cuda_kernels, saved.cuda_kernels);
  EXPECT_EQ(cubins.get(kernel(50)), "of another process");
}

TEST(Cubins, that_nobody_asks_for_are_dropped) {
  constexpr int kTexts = 8;
  const int first = static_cast<int>(entropy() % 1000000) + 1000;  // of no earlier run, which would be on disk
  for (int round = 0; round < 3; round++) {
    nvidia::Cubins cubins(9, 0, 4);
    for (int i = 0; i < kTexts; i++) cubins.begin(kernel(first + round * kTexts + i));
  }
  const auto used = nvidia::used_cubins();
  for (int round = 0; round < 3; round++) {
    const std::string last = kernel(first + round * kTexts + kTexts - 1);
    EXPECT_TRUE(std::none_of(used.begin(), used.end(), [&](auto& u) { return u.first.ends_with(last); })) << round;
  }
}

}  // namespace
}  // namespace thunder::test
