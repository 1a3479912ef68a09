#include "base/tile_registers.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace thunder {

bool enable_tile_registers() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long kAskForState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool enabled = syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
  return enabled;
#else
  return false;
#endif
}

}  // namespace thunder
