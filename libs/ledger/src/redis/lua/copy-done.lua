-- Copies the finished effects and items of one run to another, so that they are not repeated. Layout: effect-record, item-record.
--
-- Who may report late is not taken over: no attempt of the other run has begun anything here.
local function copy_done(run, items, to_run, to_items)
  local names = redis.call('HKEYS', run)
  for _, field in ipairs(names) do
    local name = string.match(field, '^e/(.*)$')
    local record = name and redis.call('HGET', run, field)
    if record and string.find(record, 'done ', 1, true) == 1 then
      local rest = redis.call('HMGET', run, 'r/' .. name, 'h/' .. name)
      redis.call('HSET', to_run, field, record, 'r/' .. name, rest[1] or '', 'h/' .. name, rest[2] or '')
    end
  end
  -- What comes next has its place after these; and items never outlive their run.
  local last = redis.call('HGET', run, 'e')
  if last then redis.call('HSET', to_run, 'e', last) end
  local known = redis.call('HGETALL', items)
  for i = 1, #known, 2 do
    if string.find(known[i + 1], 'done ', 1, true) == 1 then redis.call('HSET', to_items, known[i], known[i + 1]) end
  end
  if #known > 0 then redis.call('HSET', to_run, 'i', '1') end
end
