import { chromium } from 'playwright-core';
import { ensureProgram } from './debian.mjs';

/** No graphics, no sandbox (the tests may run as root), and nothing that dials anywhere by itself. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

/** Fetching Chromium takes a minute on a machine that has none. */
export const BROWSER_PATIENCE_MS = 300_000;

/**
 * The Chromium of Debian, fetched where there is none; the caller closes it.
 * @returns {Promise<import('playwright-core').Browser>}
 */
export async function openBrowser() {
  const { command, env } = await ensureProgram('chromium', { log: (line) => console.error(line) });
  return chromium.launch({ executablePath: command, args: FLAGS, env });
}
