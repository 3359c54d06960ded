# SPDX-License-Identifier: Apache-2.0
#
# calls.rb REPORT: functions that call each other in ways that are known, until a signal ends it.
#
# At first another process does that, in which a TracePoint notes what Ruby says of all functions. REPORT gets that as
# JSON: stacks, outermost function first; calls, as (caller, file, line, called function); lines of each function. Then
# REPORT.ready is there. A TracePoint would end the use of code that was compiled. Runs in Ruby 2.7 and later.

require 'rbconfig'
require 'zlib'

Warning[:experimental] = false # ractors
ROUNDS = 3
BURN = 2000
DEPTH = 30
FILE = File.basename(__FILE__)
EVALUATED = 'evaluated.rb'
$evaluations = -1

# ---- what Ruby says ---------------------------------------------------------------------------

# JSON is an extension that not every Ruby has.
def encode(value)
  case value
  when Hash then '{' + value.map { |key, one| encode(key.to_s) + ':' + encode(one) }.join(',') + '}'
  when Array then '[' + value.map { |one| encode(one) }.join(',') + ']'
  when String then value.dump
  else value.to_s
  end
end

module Observer
  EVENTS = %i[line call return c_call c_return b_call b_return raise class end].freeze
  @stacks = {}
  @calls = {}
  @lines = {}
  @in_c = {}
  @on = false

  # Ruby tells no place of a function in C: it has that of its caller. A function of Ruby itself counts as one, and from
  # 4.0 on has such a place, too.
  def self.in_c?(location, caller)
    return true if location.path.nil? || location.path.start_with?('<internal:')
    caller && @in_c[location.label[/[^#.]+\z/]] && location.path == caller.path && location.lineno == caller.lineno
  end

  # Names a function in C as a stack of Ruby does: with the class from 3.4 on.
  def self.name(event)
    name = event.method_id.to_s
    owner = event.defined_class
    return name if RUBY_VERSION < '3.4'
    return "#{owner}##{name}" unless owner.singleton_class?
    return name unless owner.attached_object.is_a?(Module)
    "#{owner.attached_object}.#{name}"
  end

  # The stack of the event about a call of a function in C is that of its caller.
  def self.observe(event)
    locations = caller_locations(2)
    stack = []
    called = nil
    @in_c[event.method_id.to_s] = true if event.event == :call && event.path.start_with?('<internal:')
    if event.event == :c_call
      @in_c[event.method_id.to_s] = true
      called = name(event)
    end
    locations.each_with_index do |location, i|
      frame = [location.label, File.basename(location.path.to_s), location.lineno]
      frame = [location.label, '', 0] if in_c?(location, locations[i + 1])
      stack.unshift(frame[0, 2])
      @calls[[*frame, called]] = true if called
      (@lines[frame[0, 2]] ||= {})[frame[2]] = true
      called = location.label
    end
    @stacks[stack] = true unless stack.empty?
    return unless event.event == :c_call

    @stacks[stack + [[name(event), '']]] = true
    @lines[[name(event), '']] = { 0 => true }
  end

  def self.on?
    @on
  end

  def self.start
    @on = true
    @trace = TracePoint.new(*EVENTS) { |event| observe(event) }
    @trace.enable
  end

  def self.stop
    @trace.disable
  end

  # As Ruby names a method of all objects
  def self.full(name)
    RUBY_VERSION < '3.4' ? name : "Object##{name}"
  end

  # A ractor has no TracePoint of another one: its block calls burn() as others do.
  def self.add_ractor
    block = ["block in #{full('by_ractor')}", FILE]
    burn = [full('burn'), FILE]
    @stacks.keys.each do |stack|
      at = stack.index(burn)
      @stacks[[block] + stack[at..-1]] = true if at
    end
    @stacks[[block]] = true
    @lines[block] = { RACTOR => true }
    @calls[[*block, RACTOR, burn[0]]] = true
  end

  def self.write(report)
    add_ractor
    File.write(report + '.new', encode(
      version: RUBY_VERSION, stacks: @stacks.keys, calls: @calls.keys,
      lines: @lines.map { |(name, file), lines| [name, file, lines.keys.sort] },
      proven: 97, ruby: 1, files: [FILE, EVALUATED],
      orders: [[full('in_extension'), [full('by_extension'), 'zlib.so', "block in #{full('by_extension')}"]]]
    ))
    File.rename(report + '.new', report)
  end
end

# ---- functions --------------------------------------------------------------------------------

def burn(rounds = BURN)
  total = 0
  rounds = 3 if Thread.current.thread_variable_get(:slowly)
  i = 0
  while i < rounds
    total += i % 7
    total ^= i
    i += 1
  end
  total
end

class Shape
  include Comparable

  def self.sum(shapes)
    shapes.inject(0) do |total, shape|
      total + shape.area
    end
  end

  def <=>(other)
    burn
    object_id <=> other.object_id
  end

  def area
    burn
  end
end

class Square < Shape
  attr_reader :size

  def initialize(size)
    burn
    @size = size
  end

  def area
    r = super
    r + 1
  end

  def method_missing(name, *arguments)
    r = burn
    r
  end

  def respond_to_missing?(*)
    true
  end

  define_method(:defined) do |x|
    r = burn
    r + x
  end

  class << self
    def single
      r = burn
      r
    end
  end

  alias other_area area
end

module Tools
  module_function

  def tool
    r = burn
    r
  end
end

module Refined
  refine Integer do
    def refined
      r = burn
      r
    end
  end
end

using Refined

class Bag
  include Enumerable

  def each
    yield 1
    burn
    yield 2
  end
end

def by_methods
  r = Shape.sum([Square.new(1), Square.new(2)])
  r
end

def by_names
  square = Square.new(1)
  square.anything
  square.defined(1)
  square.other_area
  square.send(:area)
  Square.single
  Tools.tool
  1.refined
  [square, Square.new(2)].map(&:area)
  [1, 2].map(&square.method(:defined))
end

def by_blocks
  [3, 1, 2].sort_by do |x|
    burn
    x
  end
  [[1, 2], [3]].each do |inner|
    inner.each do |x|
      burn
    end
  end
  { a: 1 }.each_pair do |key, value|
    burn
  end
  'ab'.gsub(/[ab]/) do |found|
    by_methods
    'x'
  end
  2.times do |i|
    burn
  end
  [Square.new(1), Square.new(2)].max
  twice = lambda do |x|
    burn
    x * 2
  end
  twice.call(1)
  [1].each_with_index.map do |x, i|
    twice.(x)
  end
end

def by_enumerable
  Bag.new.map do |x|
    burn
    x
  end
  Bag.new.each_slice(2) do |pair|
    burn
  end
end

def by_exception
  begin
    by_methods
    raise ArgumentError, 'wrong'
  rescue ArgumentError
    burn
  ensure
    burn
  end
  catch(:done) do
    burn
    throw :done
  end
end

def recursive(depth)
  if depth == 0
    return burn(3 * BURN)
  end
  r = recursive(depth - 1)
  r
end

def by_recursion
  r = recursive(DEPTH)
  r
end

BLOCK = "[1].each do |x|\n  burn(5 * BURN)\n  [1].each do |y|\n    burn(5 * BURN)\n  end\nend\n"

# Each eval() makes a function of its own.
def by_evaluation
  if ($evaluations += 1) % 40 < ROUNDS
    eval('r = by_blocks', binding, EVALUATED, 1)
    eval(BLOCK, binding, EVALUATED, 3)
    [1].each do |x|
      eval(BLOCK, binding, EVALUATED, 3)
    end
  end
  Square.new(1).instance_eval do
    burn
  end
end

def numbers
  Enumerator.new do |numbers|
    burn
    numbers << 1
    burn
    numbers << 2
  end
end

def by_fiber
  fiber = Fiber.new do
    burn
    Fiber.yield
    by_blocks
  end
  fiber.resume
  burn
  fiber.resume
  one = numbers
  one.next
  one.next
end

def by_thread
  Thread.new do
    Thread.current.thread_variable_set(:slowly, Observer.on?)
    by_blocks
  end.join
end

RACTOR = __LINE__ + 5
def by_ractor
  return unless defined?(Ractor)

  ractor = Ractor.new do
    burn
  end
  ractor.respond_to?(:take) ? ractor.take : ractor.value
end

def in_extension
  r = burn
  i = 0
  while i < (Observer.on? ? 1 : 10 * BURN)
    i += 1
  end
  r
end

# Functions of C call the block, those of the extension among them.
def by_extension
  deflate = Zlib::Deflate.new
  deflate.deflate('x', Zlib::FINISH) do |chunk|
    in_extension
  end
  deflate.close
end

def work
  by_methods
  by_names
  by_blocks
  by_enumerable
  by_exception
  by_recursion
  by_evaluation
  by_fiber
  by_thread
  by_ractor unless Observer.on?
  by_extension
end

def run
  Thread.current.thread_variable_set(:slowly, Observer.on?)
  round = 0
  loop do
    work
    round += 1
    break if Observer.on? && round == ROUNDS
  end
end

if ARGV[1]
  Observer.start
else
  system(RbConfig.ruby, __FILE__, ARGV[0], 'observed') || exit(1)
  work
  GC.compact if GC.respond_to?(:compact) # objects are elsewhere now
  File.write(ARGV[0] + '.ready', '')
  trap('TERM') { exit! 143 }
end
run
Observer.stop
Observer.write(ARGV[0])
