import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * A process with a TCP proxy for each node: requests pass at once, every reply so much later as the node is said to be away.
 * One process for all of them, because on two processors five would delay each other. It ends with who started it.
 */
process.on('disconnect', () => process.exit());

/** Node's timers come up to a millisecond too late. A nap leaves the processor to others, and lasts about twice as long. */
const NAP_MS = 0.05;
const nap = new Int32Array(new SharedArrayBuffer(4));
/** In the order in which they came. @type {{ at: number, leave: () => void }[]} */
let waiting = [];

function leaveLater(delayMs, leave) {
  waiting.push({ at: performance.now() + delayMs, leave });
  if (waiting.length === 1) setImmediate(look);
}

/** Looks at the clock again and again, but only while something waits for it. */
function look() {
  const now = performance.now();
  const due = waiting.filter(({ at }) => at <= now);
  waiting = waiting.filter(({ at }) => at > now);
  for (const { leave } of due) leave();
  if (waiting.length === 0) return;
  const isNear = waiting.some(({ at }) => at < now + 3 * NAP_MS);
  if (!isNear) Atomics.wait(nap, 0, 0, NAP_MS);
  setImmediate(look);
}

async function proxy({ url, delayMs }) {
  const { hostname, port } = new URL(url);
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true });
    client.on('data', (asked) => upstream.write(asked));
    upstream.on('data', (reply) => leaveLater(delayMs, () => client.write(reply)));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      // A contender is ended with SIGKILL, in the middle of whatever it does.
      one.on('error', () => {}).on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `redis://127.0.0.1:${server.address().port}`;
}

process.send(await Promise.all(JSON.parse(process.argv[2]).map(proxy)));
