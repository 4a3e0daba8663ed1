import { Pool } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';
import { Pod } from '../support/pod.js';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';

const FENCEPOST = 'apps/cli/bin/fencepost.mjs';
const PROCESSES = 10;

interface Migrated {
  readonly schema: string;
  readonly from: number;
  readonly to: number;
}

let postgres: TestPostgres;

async function dropSchema(schema: string): Promise<void> {
  const pool = new Pool({ connectionString: postgres.url });
  await pool.query(`drop schema "${schema}" cascade`);
  await pool.end();
}

beforeAll(async () => {
  await ensureBuilt();
  postgres = await postgresForTests();
}, 600_000);

describe('fencepost migrate', { timeout: 120_000 }, () => {
  it('in ten processes at once ends well in each, and one of them did it', async () => {
    const schema = freshSchema();
    const args = [FENCEPOST, 'migrate', '--schema', schema, '--json'];
    const env = { DATABASE_URL: postgres.url };
    const all = Array.from({ length: PROCESSES }, (_, n) => new Pod({ name: `migrate-${n}`, args, env }));
    const exits = await Promise.all(all.map(({ exited }) => exited));
    expect(exits, all.map(({ stderr }) => stderr).join('')).toEqual(all.map(() => ({ code: 0, signal: null })));
    const answers = all.map(({ lines }) => lines.at(-1) as unknown as Migrated);
    const [{ to }] = answers as [Migrated];
    expect(to).toBeGreaterThan(0);
    const others = Array.from({ length: PROCESSES - 1 }, () => ({ schema, from: to, to }));
    expect(answers.toSorted((a, b) => a.from - b.from)).toEqual([{ schema, from: 0, to }, ...others]);
    await dropSchema(schema);
  });

  it('plans, checks and goes back by one version, and says in one line of JSON what it found', async () => {
    const schema = freshSchema();
    const migrate = async (...flags: string[]) => {
      const args = [FENCEPOST, 'migrate', '--schema', schema, ...flags, '--json'];
      const pod = new Pod({ name: flags.join(''), args, env: { DATABASE_URL: postgres.url } });
      const { code } = await pod.exited;
      return { code, lines: pod.lines };
    };
    const plan = { code: 0, lines: [expect.objectContaining({ schema, from: 0, functions: true })] };
    expect(await migrate('--plan')).toEqual(plan);
    const unfit = { fits: false, version: 0, refusal: expect.stringContaining('Run "fencepost migrate"') };
    expect(await migrate('--check')).toEqual({ code: 1, lines: [expect.objectContaining(unfit)] });
    const { lines } = await migrate();
    const { to } = lines.at(-1) as unknown as Migrated;
    const fit = { fits: true, version: to, refusal: null };
    expect(await migrate('--check')).toEqual({ code: 0, lines: [expect.objectContaining(fit)] });
    expect(await migrate('--down')).toEqual({ code: 0, lines: [{ schema, from: to, to: to - 1 }] });
    expect(await migrate('--check')).toMatchObject({ code: 1 });
    await dropSchema(schema);
  });
});
