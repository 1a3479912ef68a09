/* A plugin for a version of the interface that is not there yet. */
#include <thunder/plugin.h>

static thunder_status *start(thunder_context *context, const thunder_host_api *host)
{
    (void)context;
    (void)host;
    return thunder_status_create(THUNDER_INTERNAL, "must not be started", 19);
}

static const thunder_plugin_desc desc = {
    sizeof desc, THUNDER_PLUGIN_ABI + 7, THUNDER_PLUGIN_ABI + 9, "future", "9.0", start
};
THUNDER_PLUGIN_MAIN(&desc)
