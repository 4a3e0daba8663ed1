import { atMost, shown } from './claims.mjs';
import { Member } from './crew.mjs';

const AT_ONCE = 100;

/** One run after the other, where nothing can be batched: what a run sends to Redis that a bare job doesn't. */
export async function alone(bench) {
  const runs = bench.quick ? 20 : 300;
  const bare = await withMember('bare', bench, (member) => commandsPerRun(member, runs));
  const redis = await withMember('fencepost', bench, (member) => commandsPerRun(member, runs));
  const who = { bare: { commands: shown(bare) }, redis: { commands: shown(redis) } };
  return { who, claims: [atMost('round trips to Redis a run, beyond bare', redis - bare, 4)] };
}

/** What one `run.effect` sends. */
export function effect(bench) {
  return within(bench, { handler: 'effect', runs: bench.quick ? 20 : 300 }, ['round trips of one effect', 2]);
}

/** What one `run.forEach` over a thousand items sends. */
export function items(bench) {
  return within(bench, { handler: 'items', runs: bench.quick ? 2 : 10 }, [
    'round trips of a forEach over 1,000 items',
    30,
  ]);
}

/** What keeps the run leases of all attempts of one process: however many there are, one call for all of them. */
export function heartbeats(bench) {
  const beats = bench.quick ? 2 : 10;
  const about = { concurrency: AT_ONCE, ttlMs: bench.quick ? 1_200 : 4_000 };
  const order = { count: AT_ONCE, beats };
  return withMember('fencepost', { ...bench, about }, async (member) => {
    await member.ask('fill', order);
    const { calls } = await member.ask('hold', order);
    const name = `calls of the ledger for one heartbeat of each of ${AT_ONCE} attempts`;
    return { who: { redis: { calls, beats } }, claims: [atMost(name, calls / beats, 1)] };
  });
}

function within(bench, { handler, runs }, [name, most]) {
  return withMember('fencepost', bench, async (member) => {
    const without = await commandsPerRun(member, runs);
    const commands = await commandsPerRun(member, runs, handler);
    const who = { without: { commands: shown(without) }, with: { commands: shown(commands) } };
    return { who, claims: [atMost(name, commands - without, most)] };
  });
}

/** The second time: the first one sends its scripts, too. */
async function commandsPerRun(member, runs, handler = 'nothing') {
  await member.window({ count: 2, handler });
  const { commands } = await member.window({ count: runs + 1, handler });
  return commands / runs;
}

async function withMember(program, { urls, space, about }, work) {
  const member = await Member.start(program, { redis: urls.redis, prefix: space(), concurrency: 1, ...about });
  try {
    return await work(member);
  } finally {
    await member.end();
  }
}
