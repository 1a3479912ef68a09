// The variables of launchers.
#include "scale/launcher.h"

#include <gtest/gtest.h>

#include <map>

#include "base/status.h"

namespace thunder::scale {
namespace {

std::map<std::string, std::string> variables;
const char* variable(const char* name) {
  const auto it = variables.find(name);
  return it == variables.end() ? nullptr : it->second.c_str();
}
ProcessPlace read(std::map<std::string, std::string> given) {
  variables = std::move(given);
  return read_launcher(variable);
}
std::string message(std::map<std::string, std::string> given) {
  try {
    read(std::move(given));
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(Launcher, without_variables_the_process_is_alone) {
  const ProcessPlace place = read({{"HOME", "/root"}});
  EXPECT_EQ(place.launcher, "");
  EXPECT_EQ(place.ranks, 1);
  EXPECT_EQ(place.rank, 0);
}

TEST(Launcher, reads_the_variables_of_each) {
  const ProcessPlace torchrun = read({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}});
  EXPECT_EQ(torchrun.launcher, "torchrun");
  EXPECT_EQ(torchrun.rank, 5);
  EXPECT_EQ(torchrun.ranks, 8);
  EXPECT_EQ(torchrun.local_rank, 1);
  const ProcessPlace open_mpi = read({{"OMPI_COMM_WORLD_RANK", "1"},
                                      {"OMPI_COMM_WORLD_SIZE", "2"},
                                      {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
  EXPECT_EQ(open_mpi.launcher, "Open MPI");
  EXPECT_EQ(open_mpi.rank, 1);
  EXPECT_EQ(open_mpi.local_rank, 0);
  const ProcessPlace pmi = read({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}});
  EXPECT_EQ(pmi.launcher, "PMI");
  EXPECT_EQ(pmi.local_rank, 3);
  const ProcessPlace slurm =
      read({{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(slurm.launcher, "Slurm");
  EXPECT_EQ(slurm.ranks, 4);
}

TEST(Launcher, a_batch_script_of_slurm_is_alone) {
  EXPECT_EQ(read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}).ranks, 1);
}

TEST(Launcher, names_variables_that_contradict_each_other) {
  EXPECT_EQ(message({{"WORLD_SIZE", "2"}}), "the variable WORLD_SIZE of torchrun is set, and RANK is not");
  EXPECT_EQ(message({{"RANK", "2"}, {"WORLD_SIZE", "2"}}),
            "the variables of torchrun say rank 2 (RANK) of 2 (WORLD_SIZE)");
  EXPECT_EQ(message({{"PMI_RANK", "one"}, {"PMI_SIZE", "2"}}),
            "the variable PMI_RANK of PMI is 'one', which is no number");
}

TEST(Launcher, says_what_it_looks_for) {
  EXPECT_NE(launcher_variables().find("RANK and WORLD_SIZE (torchrun)"), std::string::npos);
}

}  // namespace
}  // namespace thunder::scale
