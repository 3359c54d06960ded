# SPDX-License-Identifier: Apache-2.0
# Calls getppid() below 50 functions: tests/hostile/targets/scribble.c.
def deep_leaf
  Process.ppid
end

def deep_step(depth)
  if depth > 0
    deep_step(depth - 1)
  else
    deep_leaf
  end
end

deep_step(50)
