const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Each script and command that held the server for longer is in its slow log. */
const SLOW_US = 200;
/** Sent to measure; the rest is what is measured. */
const OURS = /^cmdstat_(info|slowlog|config|dbsize|client|ping)\b/;

export async function usedBytes(redis) {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? NaN);
}

/** Calls of each command, those that scripts make included. */
async function calls(redis) {
  const rows = (await redis.info('commandstats')).split('\r\n').filter((row) => row.startsWith('cmdstat_'));
  return rows
    .filter((row) => !OURS.test(row))
    .map((row) => [row.split(':')[0].slice(8), Number(/calls=(\d+)/.exec(row)[1])]);
}

async function cpuMs(redis) {
  const info = await redis.info('cpu');
  const of = (name) => Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(info)?.[1] ?? NaN);
  return (of('used_cpu_sys') + of('used_cpu_user')) * 1_000;
}

/** What happens on the server while `during` runs. */
export async function watchServer(redis, during) {
  await redis.config('SET', 'slowlog-log-slower-than', SLOW_US, 'slowlog-max-len', 1_000);
  await redis.slowlog('RESET');
  const [before, spent, since] = [new Map(await calls(redis)), await cpuMs(redis), performance.now()];
  const result = await during();
  const seconds = (performance.now() - since) / 1_000;
  const made = (await calls(redis)).map(([name, count]) => [name, count - (before.get(name) ?? 0)]);
  const commands = made.reduce((sum, [, count]) => sum + count, 0);
  const used = (await cpuMs(redis)) - spent;
  return { result, seconds, commands, cpuMs: used, longestMs: await longestMs(redis), top: topOf(made, seconds) };
}

function topOf(made, seconds) {
  const most = made.toSorted(([, a], [, b]) => b - a).slice(0, 5);
  return Object.fromEntries(most.map(([name, count]) => [name, Number((count / seconds).toPrecision(3))]));
}

/** `SLOW_US` where nothing took longer. */
async function longestMs(redis) {
  const entries = await redis.slowlog('GET', 1_000);
  const own = entries.filter(([, , , [command]]) => !OURS.test(`cmdstat_${String(command).toLowerCase()}`));
  return Math.max(SLOW_US, ...own.map(([, , us]) => us)) / 1_000;
}

const BARE = `local sum = 0 for n = 1, tonumber(ARGV[1]) do sum = sum + n end return sum`;
const ROUNDS = 60;

/** The longest of many equal bare scripts of about a millisecond: what this machine adds by itself to the longest script. */
export async function bareScriptMs(redis) {
  const timeOf = async (loops) => {
    const { longestMs: took } = await watchServer(redis, () => redis.eval(BARE, 0, loops));
    return took;
  };
  const loops = Math.max(1_000, Math.round(200_000 / Math.max(await timeOf(200_000), 0.2)));
  const { longestMs: longest } = await watchServer(redis, async () => {
    for (let n = 0; n < ROUNDS; n += 1) {
      await redis.eval(BARE, 0, loops);
      await sleep(10);
    }
  });
  return longest;
}
