import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './exclusive.mjs';
import { program } from './program.mjs';

const GENERATED = ['.cache', 'coverage', 'libs/client/src/api-types.ts'];

/** Back to what a clone has, but for node_modules: what was built, what was cached, what was reported. */
await program(import.meta.url, () => {
  const workspaces = ['libs', 'apps'].flatMap((room) => readdirSync(join(root, room)).map((name) => join(room, name)));
  for (const folder of [...workspaces, 'libs/console/web', 'test'])
    for (const made of ['dist', 'bundle']) rmSync(join(root, folder, made), { recursive: true, force: true });
  for (const path of GENERATED) rmSync(join(root, path), { recursive: true, force: true });
});
