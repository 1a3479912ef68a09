/* A plugin that says nothing of itself. */
#define THUNDER_PLUGIN_HOST /* no THUNDER_PLUGIN_MAIN: its query is its own */
#include <thunder/plugin.h>

__attribute__((visibility("default"))) thunder_status *thunder_plugin_query_v1(const thunder_host_api *, uint32_t,
    const thunder_plugin_desc **);
thunder_status *thunder_plugin_query_v1(const thunder_host_api *host, uint32_t abi, const thunder_plugin_desc **out)
{
    (void)host, (void)abi, (void)out;
    return NULL;
}
