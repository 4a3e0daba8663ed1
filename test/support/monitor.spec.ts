import { setImmediate as turn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { monitorOf } from './monitor.js';
import { testRedis } from './redis.js';

let redis: Redis;
beforeAll(() => {
  redis = new Redis(testRedis());
});
afterAll(() => redis.quit());

it('hears the words and the source of each command, and of those of a script', async () => {
  const said = 'what "monitor" says';
  const heard: [string[], string][] = [];
  const end = await monitorOf(testRedis(), (words, source) => heard.push([words, source]));
  await redis.echo(said);
  await redis.eval('return redis.call("echo", ARGV[1])', 0, said);
  const ours = () => heard.filter(([words]) => words.at(-1) === said);
  await expect.poll(ours).toHaveLength(3);
  end();
  const address = /addr=(\S+)/.exec(await redis.client('INFO'))?.[1];
  expect(ours()).toEqual([
    [['echo', said], address],
    [['eval', 'return redis.call("echo", ARGV[1])', '0', said], address],
    [['echo', said], 'lua'],
  ]);
});

it('begins while others go on asking', async () => {
  const over = new AbortController();
  const chatting = (async () => {
    for (; !over.signal.aborted; await turn()) await Promise.all(Array.from({ length: 50 }, () => redis.ping()));
  })();
  for (let n = 0; n < 20; n += 1) {
    let count = 0;
    const end = await monitorOf(testRedis(), () => (count += 1));
    await expect.poll(() => count).toBeGreaterThan(0);
    end();
  }
  over.abort();
  await chatting;
});
