import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Mutant, MutationLab } from './mutation-lab.mjs';
import { postgresForTests } from '../support/postgres.js';
import type { TestPostgres } from '../support/postgres.js';
import { MUTANTS, oneOfEach } from './mutants.mjs';

let lab: MutationLab;
let postgres: TestPostgres;
beforeAll(async () => {
  // One for all of them: most of their time would go into starting it.
  postgres = await postgresForTests();
  process.env['DATABASE_URL'] = postgres.url;
  lab = new MutationLab();
});
afterAll(async () => {
  await lab.close();
});

/** Queued for one of two benches, so the last one waits for all the others. */
const PATIENT = { timeout: 300_000 };

/** All of them take as long as the rest of the suite; `npm run mutants` tries them. */
const SHORT_FORM = oneOfEach(MUTANTS);

describe.concurrent('a defence that is taken out is missed', () => {
  it.for(SHORT_FORM)('$name', PATIENT, async (mutant, { expect }) => {
    // Each spec is one of this suite, which is red when that is.
    const verdict = await lab.tryOut(mutant, { isGreen: true });
    expect(verdict).toEqual({ killed: true, by: expect.any(String) });
  });
});

describe.concurrent('the laboratory', () => {
  // Its spec is a quick one: some of these run all of it.
  const mutant = MUTANTS.find(({ name }) => name === 'deployments: a revision never gives way') as Mutant;

  it('says so when nothing turns red', PATIENT, async ({ expect }) => {
    expect(await lab.tryOut({ ...mutant, replace: mutant.find })).toEqual({ killed: false });
  });

  it('refuses a mutant whose text is not there, and one whose tests are not', PATIENT, async ({ expect }) => {
    await expect(lab.tryOut({ ...mutant, find: 'no such text' })).rejects.toThrow('found it 0 times');
    await expect(lab.tryOut({ ...mutant, test: 'no such test' })).rejects.toThrow('no test of');
  });

  it('refuses a mutant whose spec is red without it', PATIENT, async ({ expect }) => {
    const killedBy = 'test/mutants/no-such.spec.ts';
    await expect(lab.tryOut({ ...mutant, killedBy })).rejects.toThrow(`Expected ${killedBy} to be green`);
  });
});
