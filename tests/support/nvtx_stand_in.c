/* Stands in for NVIDIA's NVTX: notes each range that is opened and closed, as "[NAME" and "]". */
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static char noted[4096];

static void note(const char *text)
{
    strncat(noted, text, sizeof noted - strlen(noted) - 1);
}

EXPORT int nvtxRangePushA(const char *name)
{
    note("[");
    note(name);
    return 0;
}

EXPORT int nvtxRangePop(void)
{
    note("]");
    return 0;
}

EXPORT const char *nvtx_stand_in_noted(void) { return noted; }
