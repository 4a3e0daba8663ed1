import { describe, expect, it, afterAll, beforeAll } from 'vitest';
import { scrub } from '@fencepost/lease/internal';
import { redisSpaces } from '../jobs/redis-space.js';
import { declared, FencepostDeployment, fencepost } from '../support/fencepost.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';

describe('texts', () => {
  let server: PrivateRedis;

  beforeAll(async () => {
    server = await privateRedis();
  });

  afterAll(() => server.stop());

  const spaces = redisSpaces(() => server.url);

  describe('fencepost that is given the wrong prefix', () => {
    async function wrong(...args: string[]) {
      const there = await FencepostDeployment.of({ redis: spaces.redis(), ...spaces.fresh(), tenant: 'acme' }, [
        declared('nightly'),
      ]);
      const { REDIS_URL = '' } = there.env;
      return { there, said: await fencepost(args, { env: { REDIS_URL, FENCEPOST_PREFIX: spaces.fresh().prefix } }) };
    }

    it.each([[['list']], [['list', '--json']], [['audit']], [['failed']], [['uncertain']], [['lint']]])(
      'says at %j under which prefixes and tenants the store has crons',
      async (args) => {
        const { there, said } = await wrong(...args);
        expect(said.err).toContain(`This store has crons under `);
        expect(said.err).toContain(`prefix "${there.prefix}", tenant "acme"`);
      },
    );

    it('says so where a cron is asked for that it does not know', async () => {
      const { there, said } = await wrong('show', 'nightly');
      expect([said.code, said.err]).toEqual([2, expect.stringContaining(`prefix "${there.prefix}", tenant "acme"`)]);
    });

    it('says nothing of others where there are crons', async () => {
      const at = await FencepostDeployment.of({ redis: spaces.redis(), ...spaces.fresh(), tenant: 'default' }, [
        declared('nightly'),
      ]);
      expect((await at.ask('list')).err).toBe('');
    });
  });

  describe('a fixed sentence about credentials', () => {
    it.each([
      'Unknown or missing token. Send "Authorization: Bearer <token>", or sign in on the page.',
      'Expected a token of a viewer as "Authorization: Bearer <token>". FENCEPOST_TOKENS names those that are known;',
    ])('is not masked: %s', (sentence) => {
      expect(scrub(sentence)).toBe(sentence);
    });

    it.each([
      'Authorization: Bearer abc',
      'authorization: basic dXNlcjpwYXNz',
      '"Authorization": "Bearer s3cret-token"',
    ])('that has one is masked: %s', (text) => {
      expect(scrub(text)).not.toMatch(/abc|dXNl|s3cret/);
    });
  });
});
