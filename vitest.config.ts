import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** One after the other, when everything else has ended: what they judge includes how soon something happens. */
const ALONE = [
  'test/e2e/chaos.spec.ts',
  'test/e2e/crash.spec.ts',
  'test/e2e/holder-loss.spec.ts',
  'libs/jobs/src/scheduling/backlog-on-bullmq.spec.ts',
  'test/bench/ratchets.spec.ts',
];
/** Each in a process of its own, from the beginning: they change what a process has only once, make it slower, or take long. */
const ISOLATED = [
  'test/mutants/mutants.spec.ts',
  'libs/jobs/src/nest/default-log.spec.ts',
  'libs/jobs/src/nest/default-log-on-pino.spec.ts',
  'libs/jobs/src/telemetry/tracing-on-bullmq.spec.ts',
  'test/repository/short-path.spec.ts',
  'test/scripts/redis-resolver.spec.ts',
  'test/simulation/determinism.spec.ts',
];
/** Mostly wait, for pods and clocks. */
const WAITS = /\/test\/(browser|e2e)\//;

const NEVER = ['**/node_modules/**', '**/dist/**'];
/** One more than cores, because each waits half of its time: for pods, servers and browsers, which starve one another if there are more. */
const WORKERS = availableParallelism() + 1;

/** Before `import`, so that a test reads a library's sources and not what was built from them last. */
const SOURCE = '@fencepost/source';

/** Another release of BullMQ than the installed one, for `npm run conformance`. */
const { FENCEPOST_BULLMQ: bullmq } = process.env;

/** Spreads the files that mostly wait evenly over those that mostly compute. */
class Spread extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await BaseSequencer.prototype.sort.call(this, specs);
    const isolated = sorted.filter(({ project }) => project.config.isolate);
    const shared = sorted.filter(({ project }) => !project.config.isolate);
    const waiting = shared.filter(({ moduleId }) => WAITS.test(moduleId));
    const computing = shared.filter(({ moduleId }) => !WAITS.test(moduleId));
    const placed = [waiting, computing].flatMap((files) => files.map((file, n) => ({ file, at: n / files.length })));
    return [...isolated, ...placed.toSorted((a, b) => a.at - b.at).map(({ file }) => file)];
  }
}

export default defineConfig({
  // The root tsconfig only refers to others, and each of those would be loaded for every file.
  tsconfig: 'tsconfig.base.json',
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  resolve: { conditions: [SOURCE], ...(bullmq && { alias: { bullmq } }) },
  ssr: { resolve: { conditions: [SOURCE, 'node', 'module-sync', 'default'] } },
  test: {
    pool: 'forks',
    // Generous, because only a test that fails waits for so long, and others share the machine.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Of tests that say that they may run side by side.
    maxConcurrency: 2,
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/storages-of-file.ts', 'test/support/decorated-of-file.ts'],
    sequence: { sequencer: Spread },
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['{apps,libs,test}/**/*.spec.ts'],
          exclude: [...NEVER, ...ALONE, ...ISOLATED],
          isolate: false,
          maxWorkers: WORKERS,
        },
      },
      {
        extends: true,
        test: { name: 'isolated', include: ISOLATED, maxWorkers: WORKERS },
      },
      { extends: true, test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
