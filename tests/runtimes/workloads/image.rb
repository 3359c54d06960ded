# SPDX-License-Identifier: Apache-2.0
#
# image.rb REPORT KIND: functions that stay where they are, for record_image.c. "held": the last one works in Ruby,
# "released": it waits in C. REPORT-KIND gets the process, then line, file and name of each function, innermost first,
# as caller_locations() says them. A function in C has neither line nor file. A function stays in the line in which it
# reports.

REPORT, KIND = ARGV
IN_C = %w[each map sort_by inject instance_eval send call each_pair gsub eval instance_exec catch synchronize sleep].freeze

# Ruby says of a function in C the place of its caller.
def in_c?(location, caller)
  caller && IN_C.include?(location.label[/[^#.]+\z/]) && location.path == caller.path &&
    location.lineno == caller.lineno
end

def report(waits)
  locations = caller_locations(1)
  lines = locations.each_with_index.map do |location, i|
    next "0\t\t#{location.label}" if in_c?(location, locations[i + 1])

    "#{location.lineno}\t#{location.path}\t#{location.label}"
  end
  lines.unshift("0\t\t#{waits}") if waits
  path = "#{REPORT}-#{KIND}"
  File.write("#{path}.new", "#{Process.pid}\n#{lines.join("\n")}\n")
  File.rename("#{path}.new", path)
end

class Größe
  def method(further)
    further.call
  end

  def self.of_class(further)
    further.call(
    )
  end

  define_method(:defined) do |further|
    further.call
  end

  class << self
    def single(further)
      further.call
    end
  end

  def method_missing(name, further)
    further.call
  end

  def respond_to_missing?(*)
    true
  end
end

module Tools
  module_function

  def tool(further)
    further.call
  end
end

def by_blocks(further)
  [1].each do |x|
    { 1 => 2 }.each_pair do |key, value|
      further.call
    end
  end
end

def by_sort(further)
  [2, 1].sort_by { |value| further.call }
end

def by_inject(further)
  [1, 2].inject { |left, right| further.call }
end

def by_text(further)
  'a'.gsub(/a/) { further.call }
end

def by_throw(further)
  catch(:done) { further.call }
end

def by_evaluation(further)
  eval("1\nfurther.call", binding, 'evaluated.rb', 7)
end

def by_instance(further)
  Größe.new.instance_eval { further.call }
end

def by_ensure(further)
  further.call
ensure
  further = nil
end

def recursive(further, depth = 12)
  return further.call if depth == 0

  recursive(further, depth - 1)
end

def 名前(further)
  further.call
end

eval("def long(further)\n" + "  value = 1\n" * 300 + "  further.call\nend", TOPLEVEL_BINDING, 'long.rb', 1)

OBJECT = Größe.new
STEPS = [
  Größe.instance_method(:method).bind(OBJECT), Größe.method(:of_class), Größe.instance_method(:defined).bind(OBJECT), Größe.method(:single),
  Tools.method(:tool), method(:by_blocks), method(:by_sort), method(:by_inject), method(:by_text), method(:by_throw),
  method(:by_evaluation), method(:by_instance), method(:by_ensure), method(:recursive), method(:名前), method(:long)
].freeze

def chain(steps, last)
  return last.call if steps.empty?

  steps[0].call(-> { chain(steps[1..-1], last) })
end

def keep
  i = 0
  report(nil); i += 1 while true
end

def release
  report(RUBY_VERSION < '3.4' ? 'sleep' : 'Kernel#sleep'); sleep
end

chain(STEPS, KIND == 'held' ? method(:keep) : method(:release))
