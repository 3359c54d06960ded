-- SPDX-License-Identifier: Apache-2.0
-- Calls clock() below 50 functions: tests/hostile/targets/scribble.c.
local function deep_leaf()
    local now = os.clock()
    return now
end

local function deep_step(depth)
    local now
    if depth > 0 then
        now = deep_step(depth - 1)
    else
        now = deep_leaf()
    end
    return now
end

deep_step(50)
