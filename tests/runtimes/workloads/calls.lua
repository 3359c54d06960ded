-- SPDX-License-Identifier: Apache-2.0
--
-- calls.lua REPORT: functions that call each other in ways that are known, until a signal ends it.
--
-- At first a hook notes what the interpreter says of all functions, and REPORT gets that as JSON: stacks,
-- outermost function first; calls, as (caller, line, called function); lines of each function. Then
-- REPORT.ready is there, and the same goes on without the hook. Runs in Lua 5.1 to 5.5.

local load = loadstring or load
local report = arg[1]
local ROUNDS, STEP, DEPTH = 5, 31, 100
local observed = true
-- compiled code calls no hooks
local is_compiled = jit and jit.status()
if is_compiled then
	jit.off()
end

local function burn(rounds)
	local total = 0
	rounds = rounds or 3000
	for i = 1, observed and rounds / 200 or rounds do
		total = total +
			i %
			7
	end
	return total
end

-- ---- what the interpreter says ----------------------------------------------------------------

local stacks, calls, functions, names = {}, {}, {}, {}
local resumed_by = {}	-- coroutine: the one that resumed it
local MAIN = {}

local function running()
	local thread, is_main = coroutine.running()
	if not thread or is_main then
		return MAIN
	end
	return thread
end

local function base(path)
	return path:match("([^/]*)$")
end

local function name_of(info)
	local file = info.source:sub(1, 1) == "@" and base(info.source:sub(2)) or info.short_src
	if info.what == "main" then
		return "main chunk", file
	end
	return ("function <%s:%d>"):format(file, info.linedefined), file
end

-- Returns what debug.traceback() says of a function, without the kind of its name.
local function shown(info, own)
	if info.what == "main" or not info.name then
		return own
	elseif info.namewhat == "metamethod" or info.namewhat == "hook" then
		return ("%s '%s'"):format(info.namewhat, info.name)
	end
	return info.name
end

local function quote(text)
	return '"' .. text:gsub('[\\"]', "\\%0") .. '"'
end

-- Adds the frames of a thread, innermost first.
local function add_frames(stack, get)
	local level = 0
	while true do
		local info = get(level)
		if not info then
			return
		end
		if info.what == "Lua" or info.what == "main" then
			local name, file = name_of(info)
			local called = stack[#stack]
			if called then
				calls[("[%s,%s,%d,%s]"):format(quote(name), quote(file), info.currentline,
					quote(called.name))] = true
			end
			functions[name .. "\n" .. file] = info.func
			names[name] = names[name] or {}
			names[name][quote(shown(info, name))] = true
			stack[#stack + 1] = {name = name, file = file}
		end
		level = level + 1
	end
end

local function observe()
	local stack, thread = {}, running()
	add_frames(stack, function(level)
		-- this one, add_frames(), observe(), the hook's function. LuaJIT has left this one.
		return debug.getinfo(level + (jit and 3 or 4), "Slnf")
	end)
	while resumed_by[thread] do
		thread = resumed_by[thread]
		if thread == MAIN then
			add_frames(stack, MAIN.get)
		else
			local inner = thread
			add_frames(stack, function(level)
				return debug.getinfo(inner, level, "Slnf")
			end)
		end
	end
	local texts = {}
	for i = #stack, 1, -1 do
		texts[#texts + 1] = ("[%s,%s]"):format(quote(stack[i].name), quote(stack[i].file))
	end
	stacks["[" .. table.concat(texts, ",") .. "]"] = true
end

local function hook()
	if observed then
		debug.sethook(observe, "", STEP)
	end
end

-- Runs a function in a coroutine, which the hook knows.
local function make(f)
	burn()
	local thread = coroutine.create(function(...)
		hook()
		burn()
		return f(...)
	end)
	return function(...)
		resumed_by[thread] = running()
		local ok, result = coroutine.resume(thread, ...)
		assert(ok, result)
		return result
	end
end

-- ---- functions --------------------------------------------------------------------------------

local Class = {}
Class.__index = Class

function Class:method()
	local r = burn()
	return r
end

function Class.static()
	local r = Class:method()
	return r
end

function by_global()
	local r = Class.static()
	return r
end

local function by_tail()
	return by_global()
end

local operators = setmetatable({}, {
	__index = function(t, k)
		local r = burn()
		return r
	end,
	__newindex = function(t, k, v)
		local r = burn()
	end,
	__add = function(a, b)
		local r = by_global()
		return r
	end,
	__lt = function(a, b)
		local r = burn()
		return r > 0
	end,
	__concat = function(a, b)
		local r = burn()
		return "x"
	end,
	__call = function(self, n)
		local r = burn(n)
		return r
	end,
	__tostring = function(self)
		local r = burn()
		return "operators"
	end,
})

local function by_operators()
	local r = operators.something
	operators.other = 1
	r = operators + 1
	r = operators < operators
	r = operators .. "y"
	r = operators(2000)
	r = tostring(operators)
	return r
end

local function by_iterator()
	local sum = 0
	for v in function(_, last)
		local r = burn()
		if not last then
			return r
		end
	end do
		sum = sum + v
		burn()
	end
	return sum
end

local function by_sort()
	local t = {3, 1, 2}
	table.sort(t, function(a, b)
		burn()
		return a < b
	end)
	return t
end

local function by_gsub()
	local r = string.gsub("ab", "%w", function(c)
		by_sort()
		return c
	end)
	return r
end

local function by_pcall()
	local ok, r = pcall(function()
		local r = by_gsub()
		error("wrong")
	end)
	ok, r = xpcall(function()
		error("wrong again")
	end, function(message)
		local r = burn()
		return message
	end)
	return r
end

local function recursive(depth)
	if depth == 0 then
		local r = burn(30000)
		return r
	end
	local r = recursive(depth - 1)
	return r
end

local function in_coroutine()
	local inner = make(function()
		burn()
		coroutine.yield()
		local r = by_gsub()
		return r
	end)
	burn()
	inner()
	coroutine.yield()
	inner()
	local r = burn()
	return r
end

local function by_coroutine()
	local resume = make(in_coroutine)
	resume()
	burn()
	resume()
	local r = burn()
	return r
end

-- From 5.2 on a coroutine may yield within pcall().
local function by_protected_coroutine()
	local resume = make(function()
		local ok = pcall(function()
			burn()
			if _VERSION ~= "Lua 5.1" then
				coroutine.yield()
			end
			local r = burn()
		end)
		local r = burn()
		return r
	end)
	resume()
	if _VERSION ~= "Lua 5.1" then
		resume()
	end
end

-- Finished and suspended coroutines are in sight of the ones that run.
local function by_others()
	local idle, done = coroutine.create(by_sort), make(burn)
	done()
	local resume = make(function(a, b)
		coroutine.yield()
		local r = burn()
		return coroutine.status(a)
	end)
	resume(idle, done)
	burn()
	resume()
end

local function by_garbage()
	for i = 1, 50 do
		local r = coroutine.create(burn)
		r = {i, tostring(i), function() return r end}
	end
	collectgarbage("step")
	burn()
end

local made = load("local work = ...\n\nlocal r = work()\nreturn r", "=made")

local function by_made()
	local r = made(burn)
	return r
end

-- ---- functions that LuaJIT puts into one trace ------------------------------------------------

local function rounds_of(n)
	return observed and n / 200 or n
end

-- A trace has snapshots where it may end: where a condition is not as before.
local function scale(a, b)
	local r = a * 3 + b
	if r > 1000000 then
		r = r % 1000003
	end
	r = r % 1009
	r = r * r + 7
	if r > 2000000000 then
		r = 1
	end
	r = r % 2003
	return r % 5003
end

local function mix(a, b)
	local r = scale(a, b)
	r = r + scale(b, a)
	return r % 5003
end

local function by_inlining()
	local total = 0
	for i = 1, rounds_of(20000) do
		total = (total + mix(i, total)) % 100003
	end
	return total
end

-- The compiler knows the code of such a closure, and not the closure.
local function apply(f, n)
	local total = 0
	for i = 1, n do
		total = (total + f(i)) % 100003
	end
	return total
end

local function by_closures()
	local total = 0
	for i = 1, 5 do
		total = total + apply(function(x)
			local r = scale(x, i)
			return r
		end, rounds_of(4000))
	end
	return total
end

local shape = setmetatable({}, {
	__index = function(t, k)
		local r = scale(k, 5)
		return r
	end,
	__add = function(t, k)
		local r = scale(k, 7)
		return r
	end,
})

local function by_inlined_operators()
	local total = 0
	for i = 1, rounds_of(20000) do
		total = (total + shape[i]) % 100003
		total = total + (shape + i)
		total = total % 100003
	end
	return total
end

local function first_of(...)
	local a, b = ...
	local r = scale(a, b)
	return r
end

local function by_arguments()
	local total = 0
	for i = 1, rounds_of(20000) do
		total = (total + first_of(i, total, i)) % 100003
	end
	return total
end

local function keep(list, i)
	local r = {i, {i}}
	list[i % 100 + 1] = r
	return #list
end

local function by_collected()
	local total, list = 0, {}
	for i = 1, rounds_of(20000) do
		total = total + keep(list, i)
	end
	return total
end

local function down(n)
	if n < 2 then
		return n
	end
	local r = down(n - 1)
	r = r + down(n - 2)
	return r
end

local function by_recursive_trace()
	local r = down(12)
	return r
end

-- A function of C calls one of Lua.
local is_ffi, ffi = pcall(require, "ffi")
local compare, numbers
if is_ffi then
	ffi.cdef("void qsort(void *, size_t, size_t, int (*)(const int *, const int *));")
	numbers = ffi.new("int[8]", 5, 3, 8, 1, 9, 2, 7, 4)
	compare = ffi.cast("int (*)(const int *, const int *)", function(a, b)
		local r = burn(200)
		return a[0] - b[0]
	end)
end

local function by_native_code()
	ffi.C.qsort(numbers, 8, 4, compare)
	return numbers[0]
end

local TRACED = {by_inlining, by_closures, by_inlined_operators, by_arguments, by_collected, by_recursive_trace,
	is_ffi and by_native_code or nil}

local WORK = {by_global, by_tail, by_operators, by_iterator, by_sort, by_gsub, by_pcall, function()
	local r = recursive(DEPTH)
	return r
end, by_coroutine, by_protected_coroutine, by_others, by_garbage, by_made}

if jit then
	for i = 1, #TRACED do
		WORK[#WORK + 1] = TRACED[i]
	end
end

local function work()
	for i = 1, #WORK do
		local one = WORK[i]
		one()
	end
end

-- ---- the report -------------------------------------------------------------------------------

local function keys(set)
	local list = {}
	for key in pairs(set) do
		list[#list + 1] = key
	end
	table.sort(list)
	return "[" .. table.concat(list, ",\n") .. "]"
end

local function lines_of()
	local list = {}
	for key, f in pairs(functions) do
		local name, file = key:match("^(.*)\n(.*)$")
		local info = debug.getinfo(f, "SL")
		local lines = {info.linedefined}
		for line in pairs(info.activelines) do
			lines[#lines + 1] = line
		end
		list[#list + 1] = ("[%s,%s,[%s]]"):format(quote(name), quote(file), table.concat(lines, ","))
	end
	return "[" .. table.concat(list, ",\n") .. "]"
end

local function names_of()
	local list = {}
	for name, set in pairs(names) do
		list[#list + 1] = quote(name) .. ":" .. keys(set)
	end
	return "{" .. table.concat(list, ",\n") .. "}"
end

-- Functions that others are to be seen below, wherever a compiler has put these.
local function inlined()
	local function names(...)
		local list = {}
		for i = 1, select("#", ...) do
			list[i] = quote((name_of(debug.getinfo(select(i, ...), "S"))))
		end
		return "[" .. table.concat(list, ",") .. "]"
	end
	return "[[" .. names(by_inlining) .. "," .. names(scale, mix) .. "],[" .. names(by_inlined_operators) .. "," ..
		names(scale) .. "],[" .. names(by_arguments) .. "," .. names(scale) .. "]]"
end

-- In LuaJIT of 2017, nothing says where in a trace an instruction is, and which functions are there.
local function is_blind()
	return is_compiled and jit.version_num == 20100 and jit.version:find("beta3", 1, true) ~= nil and
		not ffi.abi("gc64")
end

local function write()
	local more = ""
	if is_blind() then
		more = more .. ',"blind":true'
	elseif jit then
		more = more .. ',"inlined":' .. inlined()
	end
	local file = assert(io.open(report, "w"))
	file:write(('{"version":%s,"stacks":%s,"calls":%s,"lines":%s,"names":%s,"files":["calls.lua","made"]%s}'):format(quote(_VERSION),
		keys(stacks), keys(calls), lines_of(), names_of(), more))
	file:close()
end

local function finish()
	observed = false
	debug.sethook()
	if is_compiled then
		jit.on()
	end
	write()
	assert(io.open(report .. ".ready", "w")):close()
end

local function run()
	hook()
	for round = 1, math.huge do
		work()
		if round == ROUNDS then
			finish()
		end
	end
end

-- In 5.1 a coroutine cannot ask about the main thread: so all runs in a coroutine, and the frames of the
-- main thread stay the same.
local function main()
	if _VERSION == "Lua 5.1" then
		local thread, frames = coroutine.create(run), {}
		for level = 1, 2 do
			frames[level - 1] = debug.getinfo(level, "Slnf")
		end
		MAIN.get = function(level)
			return frames[level]
		end
		resumed_by[thread] = MAIN
		frames[0].currentline = debug.getinfo(1, "l").currentline + 1
		assert(coroutine.resume(thread))
	else
		local thread = coroutine.running()
		MAIN.get = function(level)
			return debug.getinfo(thread, level, "Slnf")
		end
		run()
	end
end

main()
