<?php
// SPDX-License-Identifier: Apache-2.0
// Calls getloadavg() below 50 functions: tests/hostile/targets/scribble.c.
function deep_leaf()
{
    return sys_getloadavg();
}

function deep_step($depth)
{
    return $depth > 0 ? deep_step($depth - 1) : deep_leaf();
}

deep_step(50);
