-- Which revisions have no live pod, as the declaring process says.
--
-- `gone` are lines of `<order> <app>`. Other orders than from FIRST up to FORMER were written by a build that knew no revisions; see
-- revision.ts.
local FIRST, FORMER = 100, 1000000000000

local function is_former(order)
  return order < FIRST or order >= FORMER
end

-- Whether a record is of this app. Former releases added the path of the program to the name of its package.
local function owns(app, order, by)
  return app == by.app or (is_former(order) and string.sub(app, 1, #by.app + 1) == by.app .. '/')
end

local function declarer(app, order, gone, formers_gone)
  local by = { app = app, order = tonumber(order), gone = {}, formers_gone = formers_gone == '1' }
  for line in string.gmatch(gone, '[^\n]+') do by.gone[line] = true end
  return by
end

local function is_gone(app, order, by)
  if is_former(order) then return by.formers_gone end
  return by.gone[string.format('%.0f', order) .. ' ' .. app] == true
end
