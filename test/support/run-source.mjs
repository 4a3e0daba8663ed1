/**
 * Runs a program of the tests from its TypeScript source, without a build: `node run-source.mjs <file>`. For processes of
 * their own that a test starts and kills.
 */
import { fileURLToPath } from 'node:url';
import { createViteServer } from 'vitest/node';

const conditions = ['@fencepost/source'];
const [program = ''] = process.argv.slice(2);

const server = await createViteServer({
  configFile: false,
  root: fileURLToPath(new URL('../../', import.meta.url)),
  logLevel: 'error',
  appType: 'custom',
  // It only reads and translates: nothing listens, and nothing is watched.
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  resolve: { conditions },
  ssr: { resolve: { conditions: [...conditions, 'node', 'module-sync', 'default'] } },
});
await server.ssrLoadModule(program);
