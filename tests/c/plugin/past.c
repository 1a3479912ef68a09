/* A plugin for versions of the interface that are no more. */
#include <thunder/plugin.h>

static thunder_status *start(thunder_context *context, const thunder_host_api *host)
{
    (void)context, (void)host;
    return thunder_status_create(THUNDER_INTERNAL, "must not be started", 19);
}

static const thunder_plugin_desc desc = { sizeof desc, 0, THUNDER_PLUGIN_ABI - 1, "past", "0.0", start };
THUNDER_PLUGIN_MAIN(&desc)
