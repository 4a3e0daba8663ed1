import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { goFirst } from './go-first.mjs';
import { quantile } from './statistics.mjs';

const PROXIES = fileURLToPath(new URL('./delay-replies.mjs', import.meta.url));
const SAMPLES = 100;

/**
 * The same servers as if they stood elsewhere.
 * @param {readonly { url: string, delayMs: number }[]} nodes
 */
export async function moveAway(nodes) {
  const child = fork(PROXIES, [JSON.stringify(nodes)], { stdio: ['ignore', 2, 2, 'ipc'] });
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('The proxies ended before they were there.')));
  const [urls] = await Promise.race([once(child, 'message'), gone]);
  gone.catch(() => {});
  goFirst(child.pid);
  // It ends with us, so it is nothing to stay for.
  child.unref();
  child.channel.unref();
  return {
    urls,
    stop: async () => {
      child.ref();
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** What a round trip to each takes that is nothing else, µs: whether the delays are what they should be. */
export async function roundTripsUs(urls) {
  const measured = [];
  for (const url of urls) measured.push(Math.round(await roundTripUs(url)));
  return measured;
}

async function roundTripUs(url) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const times = [];
  while (times.length < SAMPLES) {
    const since = performance.now();
    socket.write('PING\r\n');
    await once(socket, 'data');
    times.push((performance.now() - since) * 1_000);
  }
  socket.destroy();
  return quantile(times, 0.5);
}
