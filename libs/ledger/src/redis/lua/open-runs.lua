-- Scores of a cron's open runs, by which the server also finds those that are due for a look. Read by redis-run-codec.ts.
--
-- -inf           uncertain: a person is asked, nobody looks
-- look - BAND    orphaned, or an attempt that is not waited for any more
-- end of lease   running
-- look + BAND    waits for a worker
-- look + 2 BAND  waits for the queue: claimed, and not confirmed
--
-- Those that a new run has to wait for are the ones above now.
local BAND, BELOW_WAITING = 2251799813685248, '(1125899906842624'
local function score_of(bands, look) return string.format('%.0f', bands * BAND + look) end
