import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** These start process after process; side by side on a small machine they would measure each other. */
const PROCESSES = ['test/e2e/**/*.spec.ts'];
/** These take their time, and what they start does not mind if it takes longer. */
const LONG = ['test/mutants/**/*.spec.ts', 'test/browser/**/*.spec.ts'];

const NEVER = ['**/node_modules/**', '**/dist/**'];
/** Half of a file's time is waiting: left alone, two cores would get one worker. */
const WORKERS = Math.max(2, availableParallelism() - 1);

/** Before `import`, so that a test reads a library's sources and not what was built from them last. */
const SOURCE = '@fencepost/source';

export default defineConfig({
  // The root tsconfig only refers to others, and each of those would be loaded for every file.
  tsconfig: 'tsconfig.base.json',
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  resolve: { conditions: [SOURCE] },
  ssr: { resolve: { conditions: [SOURCE, 'node', 'module-sync', 'default'] } },
  test: {
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['test/support/global-setup.ts'],
    projects: [
      {
        extends: true,
        // Beside what they test, and quick: a process for each would take longer than most of them do.
        test: {
          name: 'units',
          include: ['libs/**/*.spec.ts', 'apps/**/*.spec.ts'],
          exclude: NEVER,
          isolate: false,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'rooms',
          include: ['test/**/*.spec.ts'],
          exclude: [...NEVER, ...LONG, ...PROCESSES],
          maxWorkers: WORKERS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'long', include: LONG, maxWorkers: WORKERS, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: { name: 'processes', include: PROCESSES, fileParallelism: false, sequence: { groupOrder: 3 } },
      },
    ],
  },
});
