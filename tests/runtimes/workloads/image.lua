-- SPDX-License-Identifier: Apache-2.0
--
-- image.lua REPORT KIND: functions that stay where they are, for record_image.c. "held": the last one works in
-- Lua, "traced": it does so in code that LuaJIT makes, "released": it waits in C. REPORT-KIND gets the process, then line, file and name of each function, innermost
-- first, as debug.traceback() says them. A function stays in the line in which it reports.

local load = loadstring or load
local report, kind = arg[1], arg[2]
local outer = {}	-- functions of the coroutines that resumed this one, and of the main one

local function file_of(info)
	return info.source:match("^[@=](.*)") or info.short_src
end

local function name_of(info)
	if info.what == "main" then
		return "main chunk"
	elseif not info.name then
		return ("function <%s:%d>"):format(file_of(info), info.linedefined)
	elseif info.namewhat == "metamethod" or info.namewhat == "hook" then
		return ("%s '%s'"):format(info.namewhat, info.name)
	end
	return info.name
end

-- Returns what there is from a level of this coroutine on.
local function functions(level)
	local found = {}
	local info = debug.getinfo(level + 1, "Sln")
	while info do
		if info.what == "Lua" or info.what == "main" then
			found[#found + 1] = ("%d\t%s\t%s"):format(info.currentline, file_of(info), name_of(info))
		end
		level = level + 1
		info = debug.getinfo(level + 1, "Sln")
	end
	for i = 1, #outer do
		found[#found + 1] = outer[i]
	end
	return found
end

local function process()
	local file = assert(io.open("/proc/self/stat"))
	local number = file:read("*l"):match("^%d+")
	file:close()
	return number
end

-- All of it is one line. LuaJIT puts it into the loop of its caller.
local function spin(r) if r > 2000000 then r = 3 end r = r % 1009 * 7 if r > 1000000 then r = 4 end return r % 503 end

local function write()
	local path = report .. "-" .. kind
	local file = assert(io.open(path .. ".new", "w"))
	file:write(process(), "\n")
	if kind == "traced" then
		file:write(("%d\timage.lua\tspin\n"):format(debug.getinfo(spin, "S").linedefined))
	end
	file:write(table.concat(functions(2), "\n"), "\n")
	file:close()
	assert(os.rename(path .. ".new", path))
end

-- ---- ways to call a function ------------------------------------------------------------------

local Class = {}
Class.__index = Class

function Class:method(further)
	local r = further()
	return r
end

function by_global(further)
	local r = further()
	return r
end

local function tail(further)
	local r = further()
	return r
end

local function by_tail(further)
	return tail(further)
end

local further	-- for metamethods that have no argument for it
local operators = setmetatable({}, {
	__index = function(t, further)
		local r = further()
		return r
	end,
	__newindex = function(t, key, further)
		local r = further()
	end,
	__add = function(a, further)
		local r = further()
		return r
	end,
	__lt = function(a, b)
		local r = further()
		return r
	end,
	__concat = function(a, b)
		local r = further()
		return "x"
	end,
	__call = function(self, further)
		local r = further()
		return r
	end,
	__tostring = function(self)
		local r = further()
		return "operators"
	end,
})

local function by_index(further)
	local r = operators[further]
	return r
end

local function by_newindex(further)
	operators.other = further
end

local function by_add(further)
	local r = operators + further
	return r
end

local function by_less(f)
	further = f
	local r = operators < operators
	return r
end

local function by_concat(f)
	further = f
	local r = operators .. "y"
	return r
end

local function by_call(further)
	local r = operators(further)
	return r
end

local function by_tostring(f)
	further = f
	local r = tostring(operators)
	return r
end

local function by_iterator(further)
	for v in function()
		local r = further()
	end do
		return v
	end
end

local function by_sort(further)
	local t = {2, 1}
	table.sort(t, function(a, b)
		local r = further()
		return a < b
	end)
	return t
end

local function by_gsub(further)
	local r = string.gsub("a", "%w", function(c)
		local r = further()
	end)
	return r
end

local function by_pcall(further)
	local ok, r = pcall(function()
		local r = further()
		return r
	end)
	return r
end

local function by_handler(further)
	local ok, r = xpcall(function()
		error("wrong")
	end, function(message)
		local r = further()
		return message
	end)
	return r
end

local function by_coroutine(further)
	local resume = coroutine.wrap(function()
		coroutine.yield()
		local r = further()
		return r
	end)
	resume()
	local r
	outer = functions(1); r = resume()
	return r
end

local function by_hook(further)
	debug.sethook(function()
		debug.sethook()
		local r = further()
	end, "", 1)
	local t = 1
	return t
end

-- Finalizers of tables are there from 5.2 on.
local function by_finalizer(further)
	if _VERSION == "Lua 5.1" then
		local r = further()
		return r
	end
	setmetatable({}, {__gc = function()
		local r = further()
		return r
	end})
	collectgarbage()
end

local function recursive(further, depth)
	if depth == 0 then
		local r = further()
		return r
	end
	local r = recursive(further, depth - 1)
	return r
end

local function by_recursion(further)
	local r = recursive(further, 12)
	return r
end

local made = load("local further = ...\n\nlocal r = (function() local r = further() return r end)()\nreturn r", "=made")
local text = load("local further = ... further() return 1")
local long = load("return function(further)\n" .. ("local a = 1 do local a = a end\n\n"):rep(150) ..
	"local r = further()\nreturn r\nend", "@long.lua")()

local STEPS = {by_hook, Class.method, by_global, by_tail, by_index, by_newindex, by_add, by_less, by_concat, by_call,
	by_tostring, by_iterator, by_sort, by_gsub, by_coroutine, by_pcall, by_handler, by_finalizer, by_recursion, made, text,
	long, by_coroutine}

local function keep()
	if kind == "held" then
		write() while true do end
	elseif kind == "traced" then
		local r = 1
		write() while true do r = spin(r) end
	end
	write() io.read()
end

local function chain(number)
	local step = STEPS[number]
	if not step then
		local r = keep()
		return r
	end
	local function further()
		local r = chain(number + 1)
		return r
	end
	local r
	if step == Class.method then
		r = Class:method(further)
	else
		r = step(further)
	end
	return r
end

chain(1)
