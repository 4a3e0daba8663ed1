import { atMost, shown } from './claims.mjs';
import { Member } from './crew.mjs';

/** Rarer ones belong to the filling of a window, and not to a run. */
const RARE = 0.02;

/**
 * What the server does for one run, from its claim to its end: each command by itself, those that scripts call included, and what
 * is left of a script without them. Counts are the same on every machine, and the times say what a count is worth.
 */
export async function inside({ redis, urls, space, quick }) {
  const count = quick ? 200 : 2_000;
  const budget = {};
  for (const name of ['bare', 'fencepost']) {
    const member = await Member.start(name, { redis: urls.redis, prefix: space(), concurrency: 100 });
    try {
      // The first time sends the scripts, too.
      await pass(member, count);
      await redis.config('RESETSTAT');
      await pass(member, count);
      budget[name] = perRun(await redis.info('commandstats'), count);
    } finally {
      await member.end();
    }
  }
  const total = (name) => budget[name].reduce((sum, { calls }) => sum + calls, 0);
  const [bare, ours] = [total('bare'), total('fencepost')];
  const who = { bare: { commands: shown(bare) }, redis: { commands: shown(ours) } };
  return { who, budget, claims: [atMost('commands inside Redis for one run, against bare', ours / bare, 1.5)] };
}

async function pass(member, count) {
  await member.ask('fill', { count });
  await member.ask('drain', { count });
}

/** The most expensive first; `scripts` is what their own Lua takes, beyond the commands that they call. */
function perRun(info, count) {
  const found = [...info.matchAll(/^cmdstat_([a-z|]+):calls=(\d+),usec=(\d+)/gm)];
  const rows = found.map(([, command, calls, us]) => ({ command, calls: calls / count, us: us / count }));
  const isScript = ({ command }) => command.startsWith('eval');
  const scripts = rows.filter(isScript);
  const inner = rows.filter((row) => !isScript(row) && row.calls >= RARE);
  const sum = (some, key) => some.reduce((all, row) => all + row[key], 0);
  const ofLua = { command: 'scripts', calls: sum(scripts, 'calls'), us: sum(scripts, 'us') - sum(inner, 'us') };
  return [ofLua, ...inner.toSorted((a, b) => b.us - a.us)].map(({ command, calls, us }) => ({
    command,
    calls: shown(calls),
    us: shown(us),
  }));
}
