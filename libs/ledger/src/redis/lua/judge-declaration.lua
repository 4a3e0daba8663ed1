-- Compares a declaration with the record of its cron: the only place that decides.
--
-- `known` is what declared-record says, or false. The hash is that of what was declared, whatever was changed at run time since.
-- Answers CHANGED | NOTED (nothing changes but who declared it last) | SAME | OLDER | CONFLICT, and whose it is.
-- @include declared-record
-- Whether a declaration is one that is known, with its texts yet to come: their hash stands behind that of the rest.
local function lacks_texts(hash, known)
  return #hash < #known and string.sub(known, 1, #hash) == hash
end

local function judge(known, hash, build)
  if build.seq < build.top then return 'OLDER' end
  if not known then return 'CHANGED' end
  local text, known_hash, state, source = read_declared(known)
  -- What cannot be read is written anew, unless a later build wrote it: that one decides.
  if not text then return string.match(known, '^%d+ %d+ %x+ %a+ ') and 'OLDER' or 'CHANGED', '' end
  local seq = tonumber(text)
  local same = known_hash == hash or (build.seq <= seq and lacks_texts(hash, known_hash))
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
  return build.seq == seq and not lacks_texts(known_hash, hash) and 'CONFLICT' or 'CHANGED', source
end
