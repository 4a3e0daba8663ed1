import { join, relative } from 'node:path';
import { root } from './exclusive.mjs';
import { program } from './program.mjs';

/**
 * What is bundled, by what it is made of: a program, with all that it loads, becomes a few files. Node would read two thousand otherwise, which
 * was most of the time and of the processor that a pod took to boot. Made of what the compiler wrote.
 */
export const BUNDLES = {
  apps: [app('apps/scheduler'), app('apps/worker')],
  // The scheduler is among them, because what is preloaded into a pod has to meet the classes that the pod uses.
  'test-pods': [
    {
      of: 'test/pods/worker.ts',
      dir: 'test/dist/bundle',
      input: {
        scheduler: 'apps/scheduler/dist/main.js',
        worker: 'test/dist/pods/worker.js',
        recorder: 'test/dist/pods/recorder.js',
      },
    },
  ],
};

/** What must exist once in a process, what an app may have or not have, and what looks for files beside itself. */
const LEFT_OUT = [
  'reflect-metadata',
  '@opentelemetry/api',
  /^@nestjs\/(microservices|websockets)/,
  /^class-(validator|transformer)$/,
  /^@fastify\//,
  /^@bull-board\/(api|ui)$/,
];

const OWN = /\/(apps|libs)\/[^/]+\/dist\/|\/test\/dist\//;

/** @returns {{ of: string, dir: string, input: Record<string, string> }} */
function app(folder) {
  return { of: `${folder}/src/main.ts`, dir: `${folder}/bundle`, input: { main: `${folder}/dist/main.js` } };
}

async function bundle({ dir, input }) {
  // Here: the names of what is bundled are asked for before anything is installed.
  const { rolldown } = await import('rolldown');
  const options = { cwd: root, platform: 'node', external: LEFT_OUT, plugins: [ownFiles(dir)] };
  // The compiler has read them; they lead to folders that an image is built without.
  const bundled = await rolldown({ ...options, input, tsconfig: false });
  await bundled.write({ dir, format: 'esm', cleanDir: true });
  await bundled.close();
}

/** A module that reads a file beside itself, such as a Lua script, goes on to find it where the compiler put it. */
function ownFiles(dir) {
  return {
    name: 'own-files',
    transform(code, id) {
      if (!OWN.test(id) || !code.includes('import.meta.url')) return null;
      const itself = `new URL(${JSON.stringify(relative(join(root, dir), id))}, import.meta.url).href`;
      return { code: code.replaceAll('import.meta.url', itself), map: null };
    },
  };
}

await program(import.meta.url, async ([name]) => {
  for (const wanted of BUNDLES[name]) await bundle(wanted);
});
