// Handles of NVIDIA's libraries: owned from the moment they are made.
#include "executors/cuda/sessions.h"

#include <gtest/gtest.h>

namespace thunder::test {
namespace {

using Handle = int*;
int destroyed = 0;
int make(Handle* out) { return *out = new int, 0; }
int destroy(Handle h) { return delete h, destroyed++, 0; }

// A session of two handles, of which the library refuses the second.
struct TwoHandles {
  nvidia::OwnedHandle<Handle> first, second;
  TwoHandles() {
    make(first.out_pointer(destroy));
    second.out_pointer(destroy);
    fail(Code::backend, "there is no second one");
  }
};

TEST(OwnedHandle, is_destroyed_where_a_later_one_cannot_be_made) {
  destroyed = 0;
  EXPECT_THROW(TwoHandles(), Error);
  EXPECT_EQ(destroyed, 1);
}

TEST(OwnedHandle, is_destroyed_once_at_its_end) {
  destroyed = 0;
  {
    nvidia::OwnedHandle<Handle> handle;
    make(handle.out_pointer(destroy));
    EXPECT_NE(handle.get(), nullptr);
  }
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace thunder::test
