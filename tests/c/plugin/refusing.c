/* A plugin that refuses the library by itself. */
#define THUNDER_PLUGIN_HOST /* no THUNDER_PLUGIN_MAIN: its query is its own */
#include <thunder/plugin.h>

__attribute__((visibility("default"))) thunder_status *thunder_plugin_query_v1(const thunder_host_api *, uint32_t,
    const thunder_plugin_desc **);
thunder_status *thunder_plugin_query_v1(const thunder_host_api *host, uint32_t abi, const thunder_plugin_desc **out)
{
    (void)abi, (void)out;
    return host->status_create(THUNDER_FAILED_PRECONDITION, "not on a weekday", 16);
}
