import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgePostgres, readPostgresSettings } from '@fencepost/ledger/durability';
import { postgresForTests } from '../support/postgres.js';

/** A connection that streams, as a standby's does. */
class Standby extends Client {
  constructor(connectionString: string) {
    super({ connectionString, ...({ replication: 'true' } as object) });
  }
}

describe('a PostgreSQL whose standby may lack commits', () => {
  let url: string;
  let client: Client;

  beforeAll(async () => {
    ({ url } = await postgresForTests());
    client = new Client({ connectionString: url });
    await client.connect();
    await client.query('SET synchronous_commit = on');
  });

  afterAll(() => client.end());

  const standbyFindings = async () =>
    judgePostgres(await readPostgresSettings(client)).filter(({ message }) => message.includes('standby'));

  it('is seen while a standby is connected that no commit waits for, and not before', async () => {
    expect(await standbyFindings()).toEqual([]);
    const standby = new Standby(url);
    await standby.connect();
    expect(await standbyFindings()).toEqual([
      expect.objectContaining({ danger: 'refuse', message: expect.stringContaining('a failover may lose') }),
    ]);
    await client.query("SET fencepost.asynchronous_standby = 'accepted'");
    expect(await standbyFindings()).toEqual([]);
    await standby.end();
  });
});
