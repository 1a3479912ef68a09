/* A plugin that calls what nobody has. */
#include <thunder/plugin.h>

thunder_status *plugin_of_nobody(thunder_context *context);
static thunder_status *start(thunder_context *context, const thunder_host_api *host)
{
    (void)host;
    return plugin_of_nobody(context);
}

static const thunder_plugin_desc desc = { sizeof desc, THUNDER_PLUGIN_ABI, THUNDER_PLUGIN_ABI, "unresolved", "1.0", start };
THUNDER_PLUGIN_MAIN(&desc)
