import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** `npm run e2e -- --screenshots` sets it; a plain run of the tests changes no picture. */
export const SCREENSHOTS = process.env['FENCEPOST_SCREENSHOTS'] === 'true';

const FOLDER = fileURLToPath(new URL('../../docs/images', import.meta.url));

/** Those that the documents show, by their name here. */
const KEPT: Readonly<Record<string, string>> = {
  'list-light': 'crons',
  'cron-dark': 'cron-dark',
  'run-light': 'run',
  'uncertain-light': 'uncertain',
  'leases-light': 'leases',
  upcoming: 'upcoming',
  'list-phone': 'phone',
  'bull-board': 'bull-board',
};

const MAX_BYTES = 150_000;

/** Keeps a picture of what the window shows, where pictures are wanted, and this one is. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const kept = KEPT[name];
  if (!SCREENSHOTS || kept === undefined) return;
  mkdirSync(FOLDER, { recursive: true });
  const path = `${FOLDER}/${kept}.png`;
  await page.screenshot({ path, animations: 'disabled' });
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`Expected a picture of at most ${MAX_BYTES} bytes, ${kept}.png has ${size}.`);
}
