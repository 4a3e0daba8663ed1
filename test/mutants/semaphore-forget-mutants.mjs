const ACQUIRE = 'libs/lease/src/lua/acquire-place.lua';
const RESIZE = 'libs/lease/src/lua/resize-places.lua';
const REDIS = 'test/lease/redis-semaphore-store.spec.ts';

/**
 * What a semaphore that nobody uses leaves behind, and what it has to keep.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const SEMAPHORE_FORGET_MUTANTS = [
  {
    name: 'semaphore, acquire: the fence is never forgotten',
    defence: 'semaphores whose names are many leave nothing behind',
    file: ACQUIRE,
    find: "redis.call('PEXPIRE', KEYS[2], string.format('%.0f', kept))",
    replace: '',
    killedBy: REDIS,
    test: 'leaves no key behind when nobody has asked for long',
  },
  {
    name: 'semaphore, acquire: a fence that is ahead of the clock is forgotten',
    defence: 'fences never go back, also where they are forgotten',
    file: ACQUIRE,
    find: 'if kept and fence < micros + kept * 1000 then',
    replace: 'if kept then',
    killedBy: REDIS,
    test: 'keeps a fence that is ahead of the clock',
  },
  {
    name: 'semaphore, acquire: the size is never forgotten',
    defence: 'semaphores whose names are many leave nothing behind, also after they were asked for in vain',
    file: ACQUIRE,
    find: "redis.call('PEXPIRE', KEYS[3], string.format('%.0f', kept))",
    replace: '',
    killedBy: REDIS,
    test: 'forgets also what was only asked for in vain',
  },
  {
    name: 'semaphore, acquire: a size that was set is forgotten',
    defence: 'what a person has set stays',
    file: ACQUIRE,
    find: 'if kept and not size[2] then',
    replace: 'if kept then',
    killedBy: REDIS,
    test: 'keeps what was set, before somebody asked and after',
  },
  {
    name: 'semaphore, acquire: a semaphore is forgotten while it is held',
    defence: 'what is still needed is not forgotten',
    file: ACQUIRE,
    find: 'math.max(forget, ttl)',
    replace: 'forget',
    killedBy: REDIS,
    test: 'that forgets keeps the contract',
  },
  {
    name: 'semaphore, resize: what is set is forgotten with what was asked for',
    defence: 'what a person has set stays',
    file: RESIZE,
    find: "redis.call('PERSIST', KEYS[1])",
    replace: '',
    killedBy: REDIS,
    test: 'keeps what was set, before somebody asked and after',
  },
];
