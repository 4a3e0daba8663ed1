const LEASE = 'libs/lease/src/';
const ACQUIRE = `${LEASE}lua/take-lease.lua`;
const MEMORY = `${LEASE}store/memory-lease-store.ts`;
const ROUND = `${LEASE}holding/renewal-round.ts`;
const MODEL = 'test/lease/lease-model.spec.ts';
const KEEPERS = `${LEASE}holding/lease-keeper-property.spec.ts`;

const IN_REDIS = 'whatever is asked, forgotten, cut off and stepped';
const IN_MEMORY = 'leases in memory keep to the same';

/**
 * What random sequences of calls, faults and clock steps have to find.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const MODEL_MUTANTS = [
  {
    name: 'model: what is left is not cut',
    defence: 'a server whose clock went back by an hour keeps nobody out for an hour',
    file: ACQUIRE,
    find: 'if left < 0 or left > 2 * length then',
    replace: 'if left < 0 then',
    killedBy: MODEL,
    test: IN_REDIS,
  },
  {
    name: 'model: what is left is cut in words only',
    defence: 'the resource is free when a contender was told that it would be',
    file: ACQUIRE,
    find: "redis.call('PEXPIRE', leaseKey, string.format('%.0f', length))",
    replace: '',
    killedBy: MODEL,
    test: IN_REDIS,
  },
  {
    name: 'model: a renewal with another ttl is not noted',
    defence: 'the ttl of the last renewal is the measure of what may be left',
    file: `${LEASE}lua/renew-leases.lua`,
    find: "(term:gsub('^(%S+) %d+', '%1 ' .. ttl))",
    replace: 'term',
    killedBy: MODEL,
    test: IN_REDIS,
  },
  {
    name: 'model, memory: the fence does not follow the clock',
    defence: 'the twin’s fences increase over lost data, too',
    file: MEMORY,
    find: 'Math.floor(this.#clock.now() * 1000),',
    replace: '',
    killedBy: MODEL,
    test: IN_MEMORY,
  },
  {
    name: 'model, memory: the fence does not follow the counter',
    defence: 'the twin’s fences increase although the clock went back',
    file: MEMORY,
    find: '(this.#fences.get(resource) ?? NO_FENCE) + 1,\n      floor + 1',
    replace: 'floor + 1',
    killedBy: MODEL,
    test: IN_MEMORY,
  },
  {
    name: 'model, memory: what is left is not cut',
    defence: 'the twin keeps nobody out for an hour, either',
    file: MEMORY,
    find: '> 2 * term.ttlMs) this.#extend(term, term.ttlMs);',
    replace: '> Infinity) this.#extend(term, term.ttlMs);',
    killedBy: MODEL,
    test: IN_MEMORY,
  },
  {
    name: 'model, memory: raising lowers',
    defence: 'commands that overtake each other take no fence back',
    file: MEMORY,
    find: 'Math.max(this.#fences.get(term.resource) ?? NO_FENCE, fence) as Fence',
    replace: 'fence',
    killedBy: MODEL,
    test: IN_MEMORY,
  },
  {
    name: 'model, keeper: a renewal is counted from its reply',
    defence: 'two never act at once, however late the reply to a renewal comes',
    file: ROUND,
    find: 'leases.forEach((lease, n) => this.#heed(lease, answers[n] ? sentAt : undefined));',
    replace:
      'leases.forEach((lease, n) => this.#heed(lease, answers[n] ? clock.monotonic() + 0 * sentAt : undefined));',
    killedBy: KEEPERS,
  },
  {
    name: 'model, keeper: a retry is left behind',
    defence: 'no timer outlives the leases',
    file: ROUND,
    find: '    this.#cancelRetry?.();\n',
    replace: '',
    killedBy: KEEPERS,
  },
];
