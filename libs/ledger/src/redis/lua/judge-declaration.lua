-- Compares a declaration with the record of its cron: the only place that decides.
--
-- `known` is what declared-record says, or false. The hash is that of what was declared, whatever was changed at run time since.
-- Answers a word of catalog/declaring.ts; behind `superseded` stands the order that is in force, behind `foreign` the app.
-- @include declared-record
-- @include is-gone
-- Whether a declaration is one that is known, with its texts yet to come: their hash stands behind that of the rest.
local function lacks_texts(hash, known)
  return #hash < #known and string.sub(known, 1, #hash) == hash
end

local function judge(known, hash, by)
  if not known then return 'created' end
  local text, known_hash, state, app = read_declared(known)
  -- What cannot be read is written anew, unless a later release wrote it: that one decides.
  if not text then return string.match(known, '^%d+ %d+ %x+ %a+ ') and 'later' or 'created' end
  local order = tonumber(text)
  local same = known_hash == hash or (by.order <= order and lacks_texts(hash, known_hash))
  if app == '' then return (same and state == 'live') and 'noted' or 'changed' end
  if state == 'dropped' then return 'restored' end
  local gone = is_gone(app, order, by)
  if not owns(app, order, by) then
    if state == 'removed' then return 'restored' end
    if not gone then return 'foreign ' .. app end
    return same and 'noted' or 'taken'
  end
  -- An operator of a former release removed it: that stands until its declaration changes.
  if state == 'removed' then return same and 'withheld' or 'restored' end
  local newer = order > by.order and not is_former(order)
  if newer and not gone then return same and 'same' or 'superseded ' .. text end
  -- An operator's change stands until the code declares something new.
  if same then return order == by.order and 'same' or 'noted' end
  return newer and 'reverted' or 'changed'
end
