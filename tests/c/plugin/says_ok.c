/* A plugin whose start gives a status that says OK, where NULL is meant. */
#include <thunder/plugin.h>

static thunder_status *start(thunder_context *context, const thunder_host_api *host)
{
    (void)context, (void)host;
    return thunder_status_create(THUNDER_OK, "fine", 4);
}

static const thunder_plugin_desc desc = { sizeof desc, THUNDER_PLUGIN_ABI, THUNDER_PLUGIN_ABI, "says_ok", "1.0", start };
THUNDER_PLUGIN_MAIN(&desc)
