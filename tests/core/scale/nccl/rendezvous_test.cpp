// How ranks come to have one id, with a library that only makes ids.
#include "scale/nccl/rendezvous.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace thunder::scale::nccl {
namespace {

namespace fs = std::filesystem;

std::string seen_address;  // NCCL_COMM_ID, when the last id was made

Library library_of_ids() {
  Library library;
  library.unique_id = [](UniqueId* id) {
    static int number = 0;
    std::snprintf(id->bytes, sizeof id->bytes, "id %d", number++);
    const char* address = ::getenv("NCCL_COMM_ID");
    seen_address = address ? address : "";
    return 0;
  };
  library.error_text = [](int) { return "failed"; };
  library.last_error = [](Comm) { return ""; };
  return library;
}

struct RankRendezvous : testing::Test {
  const Library library = library_of_ids();
  fs::path folder = fs::temp_directory_path() / ("thunder-rendezvous-" + std::to_string(::getpid()));
  void SetUp() override {
    fs::create_directory(folder);
    for (const char* name : {"NCCL_COMM_ID", "MASTER_ADDR", "MASTER_PORT"}) ::unsetenv(name);
  }
  void TearDown() override {
    for (const char* name : {"NCCL_COMM_ID", "MASTER_ADDR", "MASTER_PORT"}) ::unsetenv(name);
    fs::remove_all(folder);
  }
  std::unique_ptr<Rendezvous> by_folder(int64_t rank) const {
    JoinOptions how;
    how.folder = folder.string();
    return make_rendezvous(library, {"", rank, 2, rank}, how);
  }
  std::string refusal(int64_t rank) const {
    try {
      by_folder(rank);
      return "";
    } catch (const Error& e) {
      return e.message();
    }
  }
};

TEST_F(RankRendezvous, a_folder_has_the_id_of_the_first_rank_until_all_have_joined) {
  const auto first = by_folder(0), second = by_folder(1);
  UniqueId id{}, same{};
  EXPECT_FALSE(second->step(same));
  ASSERT_TRUE(first->step(id));
  ASSERT_TRUE(second->step(same));
  EXPECT_STREQ(same.bytes, id.bytes);
  first->end();
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(RankRendezvous, a_folder_of_another_start_is_refused) {
  std::ofstream(folder / "nccl-id") << "old";
  EXPECT_NE(refusal(0).find("nccl-id is there already, left by processes that did not join"), std::string::npos);
  UniqueId id{};
  EXPECT_FALSE(by_folder(1)->step(id));  // it is not whole
  fs::remove_all(folder);
  EXPECT_NE(refusal(0).find("by which ranks find each other, is not there"), std::string::npos);
}

TEST_F(RankRendezvous, a_world_of_one_needs_nobody) {
  UniqueId id{};
  EXPECT_TRUE(make_rendezvous(library, {}, {})->step(id));
  EXPECT_EQ(seen_address, "");
}

TEST_F(RankRendezvous, the_address_of_torchrun_is_known_to_the_library_while_it_opens) {
  ::setenv("MASTER_ADDR", "first.example", 1), ::setenv("MASTER_PORT", "29500", 1);
  const auto made = make_rendezvous(library, {"torchrun", 1, 2, 1}, {});
  UniqueId id{};
  ASSERT_TRUE(made->step(id));
  EXPECT_EQ(seen_address, "first.example:29501");
  made->begun();
  EXPECT_EQ(::getenv("NCCL_COMM_ID"), nullptr);

  ::setenv("NCCL_COMM_ID", "other.example:1", 1);  // the caller's own is kept
  const auto own = make_rendezvous(library, {"torchrun", 1, 2, 1}, {});
  ASSERT_TRUE(own->step(id));
  EXPECT_EQ(seen_address, "other.example:1");
  own->begun();
  EXPECT_STREQ(::getenv("NCCL_COMM_ID"), "other.example:1");
}

TEST_F(RankRendezvous, a_port_without_another_one_behind_it_is_refused) {
  ::setenv("MASTER_ADDR", "first.example", 1);
  for (const char* port : {"65535", "x", "0"}) {
    ::setenv("MASTER_PORT", port, 1);
    EXPECT_THROW(make_rendezvous(library, {"torchrun", 1, 2, 1}, {}), Error) << port;
  }
}

}  // namespace
}  // namespace thunder::scale::nccl
