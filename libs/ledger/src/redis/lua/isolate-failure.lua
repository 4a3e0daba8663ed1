-- Does one part of a call whose other parts are about other runs: a broken record fails alone.
--
-- What is wrong with the server (out of memory, a replica by now) is wrong for all of them. That ends the call, so that it
-- comes to the connection, which knows what to do about it.
local function isolate_failure(act, ...)
  local fine, reply = pcall(act, ...)
  if fine then return reply end
  -- A text, or on another server the table that it was raised as.
  local text = type(reply) == 'table' and reply.err or reply
  -- A key of another type, or a field that isn't what the script takes it for.
  if string.find(text, '^WRONGTYPE') or string.find(text, '^user_script:') then return { 'BROKEN', text } end
  error({ err = text })
end
