import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../exclusive.mjs';

/** Where options are checked, as they were built. @returns {Promise<import('./limits.mjs').Sources>} */
export async function builtSources() {
  const { jobsSettings } = await built('jobs/dist/nest/options.js');
  const { leaseSettings } = await built('lease/dist/connect/lease-settings.js');
  const { readEffectOptions, readForEachOptions } = await built('jobs/dist/running/effect-options.js');
  const { checkedOrder } = await built('jobs/dist/enqueuing/job-order.js');
  const { DECLARED } = await built('jobs/dist/nest/cron-options.js');
  return { jobsSettings, leaseSettings, readEffectOptions, readForEachOptions, checkedOrder, DECLARED };
}

function built(path) {
  return import(pathToFileURL(join(root, 'libs', path)).href);
}
