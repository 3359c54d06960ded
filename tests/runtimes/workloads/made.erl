%% SPDX-License-Identifier: Apache-2.0
%%! +JPperf true
%%
%% made.erl REPORT: works in leaf() nearly all the time, in code that the compiler makes. REPORT: see made.py.
-mode(compile).

leaf(0, Sum) -> Sum;
leaf(N, Sum) -> leaf(N - 1, (Sum * 31 + N) band 16#ffffff).

middle(0, _, Sum) -> Sum;
middle(I, N, Sum) ->
	One = leaf(N + I, 0),
	middle(I - 1, N, Sum bxor One).

outer(Until) ->
	Sum = middle(50, 2000, 0),
	case erlang:monotonic_time(millisecond) < Until of
		true -> outer(Until);
		false -> Sum
	end.

main([Report]) ->
	outer(erlang:monotonic_time(millisecond) + 500),
	Version = erlang:system_info(otp_release),
	ok = file:write_file(Report, ["{\"version\": \"OTP ", Version,
		"\", \"leaf\": \".*:leaf/2\", \"callers\": [\".*:main/1\", \".*:outer/1\"], \"complete\": 90}"]),
	ok = file:write_file([Report, ".ready"], ""),
	halt(outer(erlang:monotonic_time(millisecond) + 60000) band 0).
