import { openBrowser } from '../browser.mjs';

const SOON = { timeout: 15_000 };

/**
 * Opens the console as a person does, signs in, and reads the rows of crons.
 * @param {string} address
 * @param {{ token: string, crons: readonly string[] }} visit
 * @returns {Promise<string[]>} the text of each row, on one line
 */
export async function readRows(address, { token, crons }) {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(SOON.timeout);
    await page.goto(address);
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    const rowOf = (name) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    const texts = await Promise.all(crons.map((cron) => rowOf(cron).first().innerText()));
    return texts.map((text) => text.replaceAll(/\s+/g, ' ').trim());
  } finally {
    await browser.close();
  }
}
