import { canGoFirst } from './go-first.mjs';
import { canPin } from './one-cpu.mjs';
import { table } from './report.mjs';
import { measure } from './rounds.mjs';
import { startServers } from './servers.mjs';
import { NODES } from './settings.mjs';
import { seeded } from './statistics.mjs';
import { judge } from './verdict.mjs';

/** @param {(line: string) => void} say hears each case as it is done */
export async function runCases({ cases, ...options }, say) {
  const random = seeded(options.seed);
  const judged = new Map();
  // The quorum's first: a server has to be up for a while before it votes.
  const five = cases.some(({ quorum }) => quorum) ? await startServers(NODES, { pinned: false }) : undefined;
  const one = await startServers(1, { pinned: true });
  try {
    for (const kase of cases) {
      const servers = kase.quorum ? five : one;
      const excuse = kase.frozen ? servers.excuse : undefined;
      const result = excuse ? skipped(kase, excuse) : await judgeCase(kase, { servers, options, random, judged });
      judged.set(kase.name, result);
      say(excuse ? `${kase.name}: ${excuse}\n` : table(result));
    }
  } finally {
    await Promise.all([one.stop(), five?.stop()]);
  }
  return closing([...judged.values()], options);
}

async function judgeCase(kase, { servers, options, random, judged }) {
  const measured = await measure(kase, { servers, options, random });
  return judge(kase, measured, { earlier: judged, quick: options.quick });
}

function skipped({ name, unit }, excuse) {
  return { name, unit, ours: excuse, peers: {}, ratio: null, claims: [] };
}

function closing(cases, { rounds, seed, quick }) {
  const ok = cases.every(({ claims }) => claims.every(({ holds }) => holds !== false));
  return { ok, node: process.version, rounds, seed, quick, pinned: canPin, undisturbed: canGoFirst, cases };
}
