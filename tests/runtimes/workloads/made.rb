# SPDX-License-Identifier: Apache-2.0
#
# made.rb REPORT: works in leaf nearly all the time, in code that the compiler makes. REPORT: see made.py.

require "json"

def leaf(n)
  sum = i = 0
  while i < n
    sum = (sum * 31 + i) & 0xffffff
    i += 1
  end
  sum
end

def middle(n)
  sum = i = 0
  while i < 50
    sum ^= leaf(n + i)
    i += 1
  end
  sum
end

def outer(seconds)
  finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  sum = 0
  sum ^= middle(2000) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
  sum
end

report = ARGV[0]
outer(0.5)
File.write(report, { version: "Ruby #{RUBY_VERSION}", leaf: 'Object#leaf( @.*)?|leaf( @.*)?', callers: [] }.to_json)
File.write("#{report}.ready", "")
outer(60)
