import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** These start process after process; side by side on a small machine they would measure each other. */
const PROCESSES = ['test/e2e/**/*.spec.ts', 'test/mutants/**/*.spec.ts', 'test/browser/**/*.spec.ts'];

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
    // Most of a file's time is waiting, and loading what it needs: left alone, two cores would get one worker.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['test/support/global-setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'rooms',
          include: ['libs/**/*.spec.ts', 'apps/**/*.spec.ts', 'test/**/*.spec.ts'],
          exclude: ['**/node_modules/**', '**/dist/**', ...PROCESSES],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'processes', include: PROCESSES, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
