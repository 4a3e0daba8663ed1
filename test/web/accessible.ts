import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe takes for serious, in short; its script comes by the debugger, past the policy of the page. */
export async function violations(shown: Page): Promise<string[]> {
  await shown.evaluate(axe.source);
  const found: Violation[] = await shown.evaluate('axe.run().then(({ violations }) => violations)');
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** By how many pixels the page is wider than its window. */
export async function overflowOf(shown: Page): Promise<number> {
  return shown.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
