-- SPDX-License-Identifier: Apache-2.0
--
-- hosted.lua: what a server runs that has Lua in it: redis, haproxy, nginx or neovim. Functions call each other
-- in ways that hosted.py reads in the comments here. "--:" names a function, or the function that a line
-- calls. "--@" is a line that calls functions of the server in C.

local host = redis or core or ngx or vim

local function burn(n)	--: burn
	local total = 0
	for i = 1, n do
		total = total +
			i %
			7
	end
	return total
end

local function by_sort()	--: by_sort
	local t = {3, 1, 2}
	table.sort(t, function(a, b)	--: compare	--> compare
		local r = burn(3000)	--> burn
		return a < b
	end)
	return t
end

local function by_gsub()	--: by_gsub
	local r = string.gsub("ab", "%w", function(c)	--: replace	--> replace
		by_sort()	--> by_sort
		return c
	end)
	return r
end

local function in_coroutine()	--: in_coroutine
	coroutine.yield()
	local r = by_gsub()	--> by_gsub
	return r
end

local function by_coroutine()	--: by_coroutine
	local resume = coroutine.wrap(in_coroutine)
	resume()
	resume()	--> in_coroutine
	return 1
end

local function by_pcall()	--: by_pcall
	local ok, r = pcall(function()	--: protected	--> protected
		local r = by_coroutine()	--> by_coroutine
		return r
	end)
	return r
end

local function work(in_host)	--: work
	by_pcall()	--> by_pcall
	in_host()	--> in_host
end

-- ---- the servers ------------------------------------------------------------------------------

if redis then
	if redis.call("LLEN", "list") == 0 then
		for i = 1, 2000 do
			redis.call("RPUSH", "list", i * 7919 % 2003)
		end
	end
	for i = 1, 20 do
		work(function()	--: in_redis	--> work
			local r = redis.call("SORT", "list", "LIMIT", 0, 1)	--@
			return r
		end)
	end
	return 1
elseif core then
	core.register_service("work", "http", function(applet)	--: answer
		local text = ("text"):rep(5000)
		work(function()	--: in_haproxy	--> work
			local r
			for i = 1, 20 do
				r = applet.c:hex(text)	--@
			end
			return r
		end)
		applet:set_status(200)
		applet:add_header("Content-Length", "0")
		applet:start_response()
	end)
elseif ngx then
	local text = ("text"):rep(5000)
	work(function()	--: in_nginx	--> work
		local r
		for i = 1, 20 do
			r = ngx.encode_base64(ngx.md5_bin(text))	--@
		end
		return r
	end)
	ngx.say("1")
else
	local list = {}
	for i = 1, 1000 do
		list[i] = i * 7919 % 1009
	end
	for round = 1, math.huge do
		work(function()	--: in_neovim	--> work
			local r = vim.fn.sort(list)	--@
			return r
		end)
		if round == 20 then
			io.open(os.getenv("STARTED"), "w"):close()
		end
	end
end
