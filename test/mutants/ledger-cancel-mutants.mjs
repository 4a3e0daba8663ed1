import { LEDGER_TURN_MUTANTS } from './ledger-turn-mutants.mjs';
import { WORKER_CANCEL_MUTANTS } from './worker-cancel-mutants.mjs';

const LUA = 'libs/jobs/src/ledger/lua/';
const CANCEL = `${LUA}cancel-run.lua`;
const FINISH = `${LUA}finish-attempts.lua`;
const HEARTBEAT = `${LUA}heartbeat-attempts.lua`;
const REDELIVER = `${LUA}redeliver-run.lua`;
const REDIS = 'test/ledger/redis-ledger.spec.ts';

/**
 * Who is told to stop and who has to wait, in the ledger and in the worker.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const LEDGER_CANCEL_MUTANTS = [
  {
    name: 'end: a run that is over stays in the way',
    defence: 'what has ended blocks no successor and is looked at no more',
    file: `${LUA}end-run.lua`,
    find: "  for _, set in ipairs(keys.sets) do redis.call('ZREM', set, id) end\n",
    replace: '',
    killedBy: REDIS,
    test: 'stands in nobody’s way once it is cancelled',
  },
  {
    name: 'end: a finished run is kept for ever',
    defence: 'nothing that is over stays without an end to it',
    file: `${LUA}end-run.lua`,
    find: "  redis.call('PEXPIRE', keys.run, keep)\n",
    replace: '',
    killedBy: REDIS,
    test: 'leaves nothing of a forgotten run, and no finished one without an end',
  },
  {
    name: 'end: effects outlive their run',
    defence: 'nothing that is over stays without an end to it',
    file: `${LUA}end-run.lua`,
    find: "  if redis.call('PEXPIRE', keys.effects, keep) == 1 then",
    replace: '  if true then',
    killedBy: REDIS,
    test: 'leaves nothing of a forgotten run, and no finished one without an end',
  },
  {
    name: 'cancel: a run that is over is cancelled',
    defence: 'terminal states are final',
    file: CANCEL,
    find: "if over[state] then return { 'TERMINAL', state } end",
    replace: '',
    killedBy: REDIS,
    test: 'a run that has succeeded is not cancelled any more',
  },
  {
    name: 'cancel: a second order counts anew',
    defence: 'whoever was told has no longer than it was told first, and one order is noted once',
    file: CANCEL,
    find: "if told and told <= tonumber(stop_by) then return { 'CANCELLING', run[3] } end",
    replace: '',
    killedBy: REDIS,
    test: 'is told once: a second order keeps the earlier end',
  },
  {
    name: 'cancel: the grace does not shorten the lease',
    defence: 'a worker that does not stop is fenced out at the end of its grace, heartbeat or not',
    file: CANCEL,
    find: 'math.min(tonumber(run[2]), tonumber(stop_by))',
    replace: 'tonumber(run[2])',
    killedBy: REDIS,
    test: 'is fenced out by the end of its grace also without a heartbeat',
  },
  {
    name: 'cancel: a worker that is gone is given time',
    defence: 'what nobody carries out is cancelled at once',
    file: CANCEL,
    find: "if state ~= 'running' or tonumber(run[2]) <= now then",
    replace: "if state ~= 'running' then",
    killedBy: REDIS,
    test: 'and has lost its worker is cancelled at once',
  },
  {
    name: 'cancel: a running run is cancelled under its worker',
    defence: 'a worker is told first, and has its grace to stop',
    file: CANCEL,
    find: "if state ~= 'running' or tonumber(run[2]) <= now then",
    replace: 'if true then',
    killedBy: REDIS,
    test: 'is told with its next heartbeat, and goes on meanwhile',
  },
  {
    name: 'heartbeat: nobody is told',
    defence: 'a worker hears with its next heartbeat that its run was cancelled',
    file: HEARTBEAT,
    find: "stop_by and 'CANCELLED' or 'EXTENDED'",
    replace: "'EXTENDED'",
    killedBy: REDIS,
    test: 'is told with its next heartbeat, and goes on meanwhile',
  },
  {
    name: 'heartbeat: the grace is extended',
    defence: 'no heartbeat keeps a run going beyond its grace',
    file: HEARTBEAT,
    find: 'math.min(now + tonumber(ARGV[a + 2]), stop_by or math.huge)',
    replace: 'now + tonumber(ARGV[a + 2])',
    killedBy: REDIS,
    test: 'has no heartbeat and no effect any more',
  },
  {
    name: 'finish: a cancelled run is tried again',
    defence: 'who failed before it heard that it was to stop is not tried again',
    file: FINISH,
    find: "if stop_by and (outcome == 'retry' or",
    replace: 'if stop_by and (false or',
    killedBy: REDIS,
    test: 'is not tried again when it failed before it heard of it',
  },
  {
    name: 'redeliver: a cancelled run is handed to the next worker',
    defence: 'nobody begins again what was told to stop',
    file: REDELIVER,
    find: "if (run[5] or '') ~= '' then",
    replace: 'if false then',
    killedBy: REDIS,
    test: 'and whose worker dies within its grace is not handed to another one',
  },
  {
    name: 'redeliver: a passed deadline is not noticed',
    defence: 'a run that no worker can begin ends at its start deadline all the same',
    file: REDELIVER,
    find: "if run[6] == '0' and now > (tonumber(run[7] or '') or now) then",
    replace: 'if false then',
    killedBy: REDIS,
    test: 'that has passed is noticed by the sweep where no worker ever comes',
  },
  {
    name: 'redeliver: a deadline ends a run between two attempts',
    defence: 'what has begun in time is in time',
    file: REDELIVER,
    find: "if run[6] == '0' and now > (tonumber(run[7] or '') or now) then",
    replace: "if now > (tonumber(run[7] or '') or now) then",
    killedBy: REDIS,
    test: 'does not concern its later attempts',
  },
  ...LEDGER_TURN_MUTANTS,
  ...WORKER_CANCEL_MUTANTS,
];
