/* A plugin that cannot start. */
#include <thunder/plugin.h>

static thunder_status *start(thunder_context *context, const thunder_host_api *host)
{
    (void)context, (void)host;
    return thunder_status_create(THUNDER_BACKEND, "no licence was found", 20);
}

static const thunder_plugin_desc desc = { sizeof desc, THUNDER_PLUGIN_ABI, THUNDER_PLUGIN_ABI, "failing", "1.0", start };
THUNDER_PLUGIN_MAIN(&desc)
