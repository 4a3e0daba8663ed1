const LEASE = 'libs/lease/src/';
const SET_VALUE = `${LEASE}lua/set-value.lua`;
const ADMIT = `${LEASE}lua/admit-fence.lua`;
const VALUES = 'test/lease/redis-fenced-values.spec.ts';

/**
 * Rows, values and gates that refuse a stale writer.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const FENCED_VALUES_MUTANTS = [
  {
    name: 'compare fences: none is stale',
    defence: 'the sinks in Redis refuse a writer whose check was true when it looked and is not any more',
    file: `${LEASE}lua/compare-fences.lua`,
    find: "checkNumber('the fence', fence, 0) < checkNumber('the fence seen', seen or '0', 0)",
    replace: 'false',
    killedBy: 'test/lease/fenced-rows.spec.ts',
  },
  {
    name: 'set-value: the fence is not compared',
    defence: 'a stale writer does not overwrite the value of its successor',
    file: SET_VALUE,
    find: 'if isStale(ARGV[1], seen) then',
    replace: 'if false then',
    killedBy: VALUES,
    test: 'a fence that is lower by one changes nothing',
  },
  {
    name: 'set-value: the fence expires with the value',
    defence: 'a stale writer that wakes up when the value of its successor has expired is still refused',
    file: SET_VALUE,
    find: "string.format('%.0f', ttl + retention)",
    replace: 'ARGV[3]',
    killedBy: VALUES,
    test: 'a stale writer is refused also after the value of its successor has expired',
  },
  {
    name: 'set-value: a value is changed in place',
    defence: 'the ttl of a value does not end the one that replaced it',
    file: SET_VALUE,
    find: "redis.call('DEL', KEYS[1])",
    replace: '',
    killedBy: VALUES,
    test: 'the ttl of a value does not end the one that replaced it',
  },
  {
    name: 'admit-fence: an older fence is let in',
    defence: 'what has no fences of its own is guarded by those that were admitted',
    file: ADMIT,
    find: 'if isStale(ARGV[1], seen) then',
    replace: 'if false then',
    killedBy: VALUES,
    test: 'an admitted fence keeps an older one out',
  },
  {
    name: 'admit-fence: the fence of an endless value gets an end',
    defence: 'a fence outlives its value',
    file: ADMIT,
    find: 'if left ~= -1 then',
    replace: 'if true then',
    killedBy: VALUES,
    test: 'keep the fence of a value without an end for ever',
  },
  {
    name: 'admit-fence: a fence is remembered for less than before',
    defence: 'a fence outlives its value, be that longer than the retention',
    file: ADMIT,
    find: 'math.max(retention, left)',
    replace: 'retention',
    killedBy: VALUES,
    test: 'never for less than it was kept before',
  },
  {
    name: 'memory values: the fence is not compared',
    defence: 'the twin refuses what Redis refuses',
    file: `${LEASE}fencing/memory-fenced-values.ts`,
    find: 'if (fence < seen)',
    replace: 'if (fence < NO_FENCE)',
    killedBy: `${LEASE}fencing/memory-fenced-values.spec.ts`,
  },
  {
    name: 'refusal: nobody is told',
    defence: 'rejections are counted where they happen',
    file: `${LEASE}fencing/refuse-stale.ts`,
    find: "observe({ name: 'fence.rejected', resource, downstream, fence });",
    replace: 'void observe; void downstream;',
    killedBy: 'test/lease/fenced-rows.spec.ts',
    test: 'is counted as a downstream of its own',
  },
];
