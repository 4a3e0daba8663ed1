import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { placeEnv } from './place.js';

const DEMO = { redis: 'redis://127.0.0.1:7001', prefix: 'demo-1', tenant: 'demo', pid: process.pid };
const fileOf = (place: object) => ({
  placeFile: () => ({ path: '/repo/.fencepost.json', text: JSON.stringify(place) }),
});

describe('the file that says where a deployment is', () => {
  it('stands for the environment, which outweighs it', () => {
    const found = { REDIS_URL: DEMO.redis, FENCEPOST_PREFIX: 'demo-1', FENCEPOST_TENANT: 'demo' };
    expect(placeEnv({}, { env: {}, ...fileOf(DEMO) })).toEqual(found);
    const env = { FENCEPOST_TENANT: 'mine', FENCEPOST_PREFIX: '' };
    expect(placeEnv({}, { env, ...fileOf(DEMO) })).toEqual({ ...found, FENCEPOST_TENANT: 'mine' });
    const database = placeEnv({}, { env: {}, ...fileOf({ ...DEMO, postgres: 'postgres://p', schema: 's' }) });
    expect(database).toMatchObject({
      FENCEPOST_LEDGER: 'postgres',
      DATABASE_URL: 'postgres://p',
      FENCEPOST_SCHEMA: 's',
    });
  });

  it.each([
    [{ redis: 'redis://elsewhere' }, {}],
    [{ url: 'http://elsewhere' }, {}],
    [{}, { REDIS_URL: 'redis://elsewhere' }],
    [{}, { FENCEPOST_URL: 'http://elsewhere' }],
    [{}, { REDIS_SENTINELS: 'a:1' }],
  ])('is not looked at where a server is named: %j %j', (flags, env) => {
    expect(placeEnv(flags, { env, ...fileOf({ ...DEMO, pid: gone() }) })).toBe(env);
  });

  it('says in one sentence that its demo has ended', () => {
    const stale = () => placeEnv({}, { env: {}, ...fileOf({ ...DEMO, pid: gone() }) });
    expect(stale).toThrow(
      'The demo of /repo/.fencepost.json has ended. Start it again with "npm start", or remove the file.',
    );
  });

  it('names a console where it names no store, and has no token sent there', () => {
    const env = { FENCEPOST_TOKEN: 'secret' };
    expect(placeEnv({}, { env, ...fileOf({ url: 'http://c' }) })).toEqual({ FENCEPOST_URL: 'http://c' });
    expect(placeEnv({}, { env, ...fileOf({ ...DEMO, url: 'http://c' }) })).not.toHaveProperty('FENCEPOST_URL');
  });

  it.each(['{', '[]', '{"host":"x"}', '{"redis":7}'])('is refused by name where it is %s', (text) => {
    const world = { env: {}, placeFile: () => ({ path: '/repo/.fencepost.json', text }) };
    expect(() => placeEnv({}, world)).toThrow(/^Cannot use \/repo\/\.fencepost\.json: .*Correct it, or remove it\.$/);
  });
});

/** The id of a process that has ended. */
function gone(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}
