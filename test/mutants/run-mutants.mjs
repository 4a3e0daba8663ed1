#!/usr/bin/env node
/**
 * Takes the defences out one at a time and says whether the suite noticed. `--json` closes with one line for programs:
 * {"ok":true,"mutants":2,"killed":2,"survived":[]}. Exit code 1 when a mutant survives or could not be tried.
 */
import { startRedis } from '../../scripts/redis.mjs';
import { MutationLab } from './mutation-lab.mjs';
import { MUTANTS } from './mutants.mjs';

const redis = await startRedis({ log: (line) => console.error(line) });
process.env['REDIS_URL'] = redis.url;
const lab = new MutationLab();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => void lab.close().finally(() => process.exit(1)));
}

const survived = [];
const started = performance.now();
await Promise.all(
  MUTANTS.map(async (mutant) => {
    try {
      const { killed, by } = await lab.tryOut(mutant);
      if (!killed) survived.push(mutant.name);
      console.error(
        killed
          ? `killed    ${mutant.name}\n          by "${by}"`
          : `SURVIVED  ${mutant.name}\n          ${mutant.defence}`,
      );
    } catch (error) {
      survived.push(mutant.name);
      console.error(`NOT TRIED ${error.message}`);
    }
  }),
);
await lab.close();
await redis.stop();

const killed = MUTANTS.length - survived.length;
console.error(
  `${killed} of ${MUTANTS.length} mutants were killed, in ${Math.round((performance.now() - started) / 1_000)} s.`,
);
if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ ok: survived.length === 0, mutants: MUTANTS.length, killed, survived }));
}
process.exitCode = survived.length === 0 ? 0 : 1;
