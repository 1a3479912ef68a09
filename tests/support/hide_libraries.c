/* For LD_AUDIT: the dynamic linker finds no library in the system's folders whose name begins with one of those in
 * HIDE_LIBRARIES, "libLLVM:libdnnl"; a process is then as on a machine that lacks them. */
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) unsigned la_version(unsigned version);
__attribute__((visibility("default"))) char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);

unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

static int is_hidden(const char *name)
{
    const char *hidden = getenv("HIDE_LIBRARIES"), *slash = strrchr(name, '/');
    if (slash) name = slash + 1;
    while (hidden && *hidden) {
        const size_t length = strcspn(hidden, ":");
        if (length && !strncmp(name, hidden, length)) return 1;
        hidden += length + (hidden[length] == ':');
    }
    return 0;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    char *same;
    (void)cookie;
    if ((flag == LA_SER_CONFIG || flag == LA_SER_DEFAULT) && is_hidden(name)) return NULL;
    memcpy(&same, &name, sizeof same);
    return same;
}
