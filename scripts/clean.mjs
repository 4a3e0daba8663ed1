import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './exclusive.mjs';
import { program } from './program.mjs';

/** Back to what a clone has, but for node_modules: what was built, what was cached, what was reported. */
await program(import.meta.url, () => {
  const workspaces = ['libs', 'apps'].flatMap((room) => readdirSync(join(root, room)).map((name) => join(room, name)));
  for (const folder of [...workspaces, 'apps/scheduler/web', 'test'])
    rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
  for (const folder of ['.cache', 'coverage']) rmSync(join(root, folder), { recursive: true, force: true });
});
