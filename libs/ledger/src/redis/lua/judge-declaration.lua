-- Compares a declaration with the record of its cron: the only place that decides.
--
-- `known` is '<build> <hash> <state> <source>' or false. The hash is that of what was declared, whatever was changed at run
-- time since. States: live, dropped (by a build that left it out), removed (by an operator). No source: made at run time.
-- Answers CHANGED | NOTED (nothing changes but who declared it last) | SAME | OLDER | CONFLICT, and whose it is.
local function judge(known, hash, build)
  if build.seq < build.top then return 'OLDER' end
  if not known then return 'CHANGED' end
  local text, known_hash, state, source = string.match(known, '^(%d+) (%x+) (%a+) (.*)$')
  -- What cannot be read is written anew.
  if not text then return 'CHANGED', '' end
  local seq, same = tonumber(text), known_hash == hash
  if source == '' then return (same and state == 'live') and 'NOTED' or 'CHANGED', source end
  -- Before anything else: while a large build is being written, its crons are ahead of the build its program is at.
  if source == build.source and build.seq < seq then return 'OLDER', source end
  -- A cron that its build left out has no owner; the other half of that build may bring it back too.
  if state == 'dropped' then return 'CHANGED', source end
  if source ~= build.source then
    if same then return 'SAME', source end
    return state == 'live' and 'CONFLICT' or 'CHANGED', source
  end
  -- An operator's change stands until the code declares something new.
  if same then return build.seq > seq and 'NOTED' or 'SAME', source end
  return build.seq == seq and 'CONFLICT' or 'CHANGED', source
end

local function is_tombstone(known)
  return known and string.match(known, '^%d+ %x+ (%a+)') ~= 'live'
end
