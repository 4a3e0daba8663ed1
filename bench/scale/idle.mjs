import { bareScriptMs, watchServer } from './server.mjs';
import { boot, daily, declare, sleep, sum } from './stage.mjs';

/** What many pods cost Redis while no cron is due. The processes are as many as there are processors to run them. */
const PROCESSES = 2;

export async function idle(bench, count) {
  return bench.onServer(async (space) => {
    const { client } = space;
    const definitions = Array.from({ length: count }, (_, n) => ({ ...daily(n), expression: '0 0 1 1 *' }));
    await declare({ ...space, redis: client }, definitions);
    const { crew } = await boot(space, count, { processes: PROCESSES, inEach: Math.ceil(bench.pods / PROCESSES) });
    try {
      await sleep(bench.quick ? 8_000 : 20_000);
      await crew.ask('calm');
      const seen = await watchServer(client, () => sleep(bench.seconds * 1_000));
      const spent = await crew.ask('spent');
      return figures({ bench, seen, spent, bareMs: await bareScriptMs(client), pingPerSecond: bench.pods });
    } finally {
      await crew.end();
    }
  });
}

function figures({ bench, seen, spent, bareMs, pingPerSecond }) {
  const { seconds, commands, cpuMs, longestMs, top } = seen;
  const perSecond = commands / seconds;
  const podCpuPercent = sum(spent.map((one) => one.cpuMs)) / seconds / 10 / bench.pods;
  return {
    ours: { commandsPerSecond: perSecond, longestMs, redisCpuPercent: cpuMs / seconds / 10, podCpuPercent, top },
    peers: {
      'one PING per pod and second': { commandsPerSecond: pingPerSecond },
      'bare script of 1 ms': { longestMs: bareMs },
    },
    ratios: { commands: perSecond / pingPerSecond, script: longestMs / bareMs },
    claims: [
      ['idle commands a second inside Redis', perSecond, 6 * bench.pods, 'count'],
      ['longest script while idle, ms', longestMs, 5],
    ],
  };
}
