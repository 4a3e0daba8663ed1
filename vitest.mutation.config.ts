import { join } from 'node:path';
import type { Plugin } from 'vitest/config';
import { defineConfig } from 'vitest/config';

const SOURCE = '@fencepost/source';

/** What `npm run mutation` runs against each mutant: the specs beside a package's sources, in a copy of the project. */
export default defineConfig({
  tsconfig: 'tsconfig.base.json',
  plugins: [withinTheCopy()],
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  resolve: { conditions: [SOURCE] },
  ssr: { resolve: { conditions: [SOURCE, 'node', 'module-sync', 'default'] } },
  test: {
    include: ['src/**/*.spec.ts'],
    // Those on a real server take seconds, and each mutant would repeat them.
    exclude: ['src/**/*-on-{bullmq,postgres,redis}.spec.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

/** `node_modules` of the copy is a link to ours, through which the workspaces would be found outside of the copy, unmutated. */
function withinTheCopy(): Plugin {
  const copy = process.cwd();
  const original = copy.replace(/\/\.cache\/mutation\/.*$/, '');
  return {
    name: 'workspaces-within-the-copy',
    enforce: 'pre',
    async resolveId(id, importer, options) {
      if (!id.startsWith('@fencepost/')) return null;
      const found = await this.resolve(id, importer, { ...options, skipSelf: true });
      if (!found || found.id.startsWith(copy)) return found;
      return { ...found, id: join(copy, found.id.slice(original.length)) };
    },
  };
}
