/* The plugin that the examples show. */
#include "extend/layer_norm.c"
