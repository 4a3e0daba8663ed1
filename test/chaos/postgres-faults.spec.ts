import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPrivatePostgres } from '../../scripts/postgres.mjs';
import { postgresFaults } from './faults/postgres-faults.js';

let server: { readonly url: string; stop(): Promise<void> };
beforeAll(async () => {
  // Not one that others use as well: all their sessions would end.
  server = await startPrivatePostgres();
});
afterAll(async () => {
  await server.stop();
});

async function entered(): Promise<string> {
  const client = new Client({ connectionString: server.url });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return 'entered';
  } catch (error) {
    return String(error);
  } finally {
    await client.end().catch(() => {});
  }
}

describe('a database that is crashed', () => {
  it('lets everybody in again when the fault is over', async () => {
    const fault = postgresFaults({ url: server.url, isPrivate: true, spared: 'spared' }).find(
      ({ kind }) => kind === 'postgres-crashed',
    );
    for (let n = 0; n < 5; n += 1) {
      expect(await fault!.strike(Math.random, new AbortController().signal)).toBe(true);
      const said = await Promise.all(Array.from({ length: 10 }, entered));
      expect(new Set(said)).toEqual(new Set(['entered']));
    }
  });
});
