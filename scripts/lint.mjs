import { ensureBuilt } from './build.mjs';
import { complaints, inspectDoors } from './doors.mjs';
import { root } from './exclusive.mjs';
import { exportedNames, overBudget } from './exports.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';
import { listen } from './tool.mjs';

const PUBLISHED = ['libs/schedule', 'libs/lease', 'libs/jobs'];

/** @typedef {{ name: string, step: () => boolean | Promise<boolean> }} Step */

/**
 * The last ones look at what would be published, so they come after the build.
 * @type {Step[]}
 */
const STEPS = [
  { name: 'format', step: () => run('prettier', '--check', '--log-level', 'warn', '.') },
  { name: 'rules and types', step: () => run('oxlint') },
  { name: 'doors', step: lookAtDoors },
  { name: 'exports budget', step: countExports },
  { name: 'nothing unused', step: () => run('knip', '--no-config-hints') },
  { name: 'build', step: build },
  ...PUBLISHED.flatMap((lib) => [
    { name: `package of ${lib}`, step: () => run('publint', lib, '--strict') },
    { name: `types of ${lib}`, step: () => run('attw', '--pack', lib, '--profile', 'esm-only', '--format', 'ascii') },
  ]),
];

/**
 * All steps, also after one that failed: who mends one thing wants to know of the others.
 * @returns {Promise<string[]>} what is not in order, as a sentence, or nothing
 */
export async function lint() {
  await ensureInstalled();
  const failed = [];
  for (const { name, step } of STEPS) {
    const since = performance.now();
    const well = await step();
    if (!well) failed.push(name);
    console.error(`${well ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - since) / 1000).toFixed(1)} s)`);
  }
  return failed.length > 0 ? [`Not in order: ${failed.join(', ')}; see above.`] : [];
}

/** Silent when well: attw prints a page of ticks, and what is wrong should not stand behind it. */
function run(name, ...args) {
  const { well, said } = listen(name, args);
  if (!well) console.error(said);
  return well;
}

async function lookAtDoors() {
  const lines = complaints(await inspectDoors(root));
  for (const line of lines) console.error(line);
  return lines.length === 0;
}

function countExports() {
  const lines = overBudget(exportedNames(root));
  for (const line of lines) console.error(line);
  return lines.length === 0;
}

async function build() {
  try {
    await ensureBuilt();
    return true;
  } catch (error) {
    console.error(error.message);
    return false;
  }
}

await program(import.meta.url, async () => {
  const objections = await lint();
  for (const line of objections) console.error(line);
  return objections.length;
});
