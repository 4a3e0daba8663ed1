import { describe, expect, it } from 'vitest';
import { Network, type Disturbance, type Weather } from './network.js';
import { SimProcess } from './sim-process.js';
import { Trace } from './trace.js';
import { runTicks, VirtualClock } from './virtual-clock.js';

const TIMEOUT_MS = 100;

function wired() {
  const world = new VirtualClock(0);
  const network = new Network({ world, trace: new Trace(world), commandTimeoutMs: TIMEOUT_MS });
  const process = new SimProcess(world, { name: 'one/1', rate: 1, aheadMs: 0 });
  const arrived: number[] = [];
  let tell = (_: string) => {};
  const store = {
    count: async () => arrived.push(world.monotonic()),
    watch: async (onNews: (news: string) => void) => void (tell = onNews),
  };
  const port = network.link(process, 'ledger', store);
  const disturb = (weather: Weather, over: Partial<Disturbance> = {}) =>
    network.begin({ weather, chance: 1, delayMs: 10, seed: 1, touches: () => true, ...over });
  const answered: unknown[] = [];
  const ask = () =>
    void port.count().then(
      (reply) => answered.push(reply),
      (error: Error) => answered.push(error.message),
    );
  const until = (end: number) => runTicks(() => world.step(end));
  return { world, process, network, port, disturb, arrived, answered, ask, until, tell: (news: string) => tell(news) };
}

describe('the simulated network', () => {
  it('lets a call through at once when nothing disturbs it', async () => {
    const { ask, arrived, answered, until } = wired();
    ask();
    await until(1);
    expect([arrived, answered]).toEqual([[0], [1]]);
  });

  it('a lost request never arrives, and its sender hears that it took too long', async () => {
    const { ask, disturb, arrived, answered, until } = wired();
    disturb('lost requests');
    ask();
    await until(1_000);
    expect([arrived, answered]).toEqual([[], ['count: command timed out']]);
  });

  it('of a lost reply the request has arrived all the same', async () => {
    const { ask, disturb, arrived, answered, until } = wired();
    disturb('lost replies');
    ask();
    await until(1_000);
    expect([arrived, answered]).toEqual([[0], ['count: command timed out']]);
  });

  it('a delayed call arrives also when its sender has given it up', async () => {
    const { ask, disturb, arrived, answered, until } = wired();
    disturb('delays', { delayMs: 100_000, seed: 5 });
    ask();
    await until(200_000);
    expect(answered).toEqual(['count: command timed out']);
    expect(arrived).toHaveLength(1);
    expect(arrived[0]).toBeGreaterThan(TIMEOUT_MS);
  });

  it('a link that is cut refuses at once, brings no hints, and is whole again afterwards', async () => {
    const { process, network, ask, disturb, answered, until, port, tell } = wired();
    const news: string[] = [];
    await port.watch((one) => news.push(one));
    const heal = disturb('refusals');
    expect(network.isUp(process, 'ledger')).toBe(false);
    ask();
    tell('lost');
    await until(1);
    heal();
    ask();
    tell('heard');
    await until(2);
    expect(answered).toEqual(['count: connect ECONNREFUSED', 1]);
    expect(news).toEqual(['heard']);
  });

  it('a process that dies between the request and the reply hears nothing', async () => {
    const { process, ask, arrived, answered, until } = wired();
    process.arm(2, () => process.crash());
    ask();
    await until(1_000);
    expect([arrived, answered]).toEqual([[0], []]);
  });
});
