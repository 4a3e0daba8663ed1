import * as fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Links everything installed into a folder that has another text of this repository, but the workspaces: it is the folder's own
 * that have to be imported there.
 * @param {string} folder
 */
export function linkModules(folder) {
  const installed = join(ROOT, 'node_modules');
  const names = fs.readdirSync(installed).filter((name) => name !== '@fencepost' && !name.startsWith('.'));
  const ours = fs.readdirSync(join(installed, '@fencepost')).map((name) => join('@fencepost', name));
  fs.mkdirSync(join(folder, 'node_modules/@fencepost'), { recursive: true });
  for (const name of [...names, ...ours]) {
    const place = fs.realpathSync(join(installed, name));
    const workspace = place.startsWith(installed) ? null : place.slice(ROOT.length);
    fs.symlinkSync(workspace === null ? place : join(folder, workspace), join(folder, 'node_modules', name));
    const own = join(place, 'node_modules');
    if (workspace !== null && fs.existsSync(own)) fs.symlinkSync(own, join(folder, workspace, 'node_modules'));
  }
}
