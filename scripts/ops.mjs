import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { opsFiles } from './ops/files.mjs';
import { program } from './program.mjs';

/** Writes what follows from the list of metrics: the page of the docs, the dashboard, the alerts. */
await program(import.meta.url, async () => {
  await ensureInstalled();
  await ensureBuilt();
  const lists = await import('../libs/operations/dist/metrics/index.js');
  for (const [file, text] of Object.entries(await opsFiles(lists))) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
    console.error(`${file} is written.`);
  }
});
