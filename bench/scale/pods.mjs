import { median } from '../lease/statistics.mjs';
import { bullmqBytes } from './peers.mjs';
import { bareScriptMs, usedBytes, watchServer } from './server.mjs';
import { boot, daily, declare, sleep } from './stage.mjs';

const CHANGES = 5;
/** After it V8 has returned what the boot left: it collects by itself once a process allocates little for a while. */
const SETTLED_MS = 120_000;
const CALM_MS = 15_000;

/**
 * One pod and three, each from an empty Redis: boot until all crons are held, resident memory, what Redis keeps for an idle
 * cron, and one cron changed until every pod knows.
 */
export async function pods(bench, count) {
  const alone = await bench.onServer((space) => bootOf({ ...bench, space, count, processes: 1 }));
  const three = await bench.onServer((space) => bootOf({ ...bench, space, count, processes: 3 }, changesOf));
  const fixed = await bench.onServer((space) => bootOf({ ...bench, space, count: 1, processes: 3 }));
  const peerBytes = await bench.onServer((space) => bullmqBytes(space, Math.min(count, bench.quick ? 100 : 2_000)));
  const bytesPerCron = (three.bytes - fixed.bytes) / (count - 1);
  const { change } = three;
  const ours = {
    ...{ bootS: alone.bootS, bootThreeS: three.bootS, rssAloneMB: alone.rssMB, rssThreeMB: three.rssMB },
    ...{ peakAloneMB: alone.peakMB, peakThreeMB: three.peakMB },
    ...{ bytesPerCron, bootScriptMs: Math.max(alone.longestMs, three.longestMs), ...change },
  };
  return {
    ours,
    peers: { 'BullMQ Job Schedulers': { bytesPerCron: peerBytes }, 'bare script of 1 ms': { longestMs: three.bareMs } },
    ratios: { memory: bytesPerCron / peerBytes, script: ours.bootScriptMs / three.bareMs },
    claims: [
      ['bytes of Redis per idle cron', bytesPerCron, 700, 'count'],
      ['boot of one pod until all are held, s', alone.bootS, 4],
      ['RSS of one pod that has settled, MB', alone.rssMB, 250],
      ['RSS of each of three pods that have settled, MB', three.rssMB, 180],
      ['longest script at boot, ms', ours.bootScriptMs, 5],
      ['a change until three pods know, ms', change.knownMs, 200],
      ['longest script of a change, ms', change.changeScriptMs, 5],
      ['longest pause of a loop at a change, ms', change.changeLoopMs, 5],
    ],
  };
}

async function bootOf({ space, count, processes, quick }, also) {
  const before = await usedBytes(space.client);
  const catalog = await declare(
    { ...space, redis: space.client },
    Array.from({ length: count }, (_, n) => daily(n)),
  );
  const seen = await watchServer(space.client, () => boot(space, count, { processes }));
  const { crew, bootS } = seen.result;
  try {
    await sleep(quick ? 1_000 : count === 1 ? CALM_MS : SETTLED_MS);
    const [rssMB, peakMB] = [await largestMB(crew, 'rss'), await largestMB(crew, 'peakRss')];
    const bytes = (await usedBytes(space.client)) - before;
    const change = also && (await also({ ...space, crew, catalog, count }));
    return { bootS, rssMB, peakMB, bytes, longestMs: seen.longestMs, bareMs: await bareScriptMs(space.client), change };
  } finally {
    await crew.end();
  }
}

async function largestMB(crew, which) {
  return Math.max(...(await crew.ask(which))) / 2 ** 20;
}

/** The same cron again and again, through the catalog's own call. */
async function changesOf({ client, crew, catalog, count }) {
  const [took, loops] = [[], []];
  const { name } = daily(Math.floor(count / 2));
  await crew.ask('calm');
  const { longestMs, cpuMs } = await watchServer(client, async () => {
    for (let n = 0; n < CHANGES; n += 1) {
      await crew.ask('calm');
      took.push(await changeOnce({ crew, catalog, name, expression: `${n} 3 1 1 *` }));
      await sleep(500);
      loops.push(...(await crew.ask('spent')));
    }
  });
  return {
    ...{ knownMs: median(took), knownMaxMs: Math.max(...took), changeScriptMs: longestMs },
    ...{ changeRedisMs: cpuMs / CHANGES, changeLoopMs: median(loops.map(({ loopMaxMs }) => loopMaxMs)) },
    changePodCpuMs: median(loops.map(({ cpuMs: ms }) => ms)),
  };
}

async function changeOnce({ crew, catalog, name, expression }) {
  const { entries } = await catalog.read([name]);
  const [{ definition, generation }] = entries;
  const known = crew.ask('known', { name, expression });
  const since = Date.now();
  const declaration = { definition: { ...definition, expression }, disabled: false };
  const reply = await catalog.put(declaration, { expected: generation, by: 'bench', reason: null });
  if (reply.verdict !== 'accepted') throw new Error(`The change was refused: ${JSON.stringify(reply)}.`);
  return Math.max(...(await known)) - since;
}
