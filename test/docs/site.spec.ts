import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { limitsPage } from '../../scripts/docs/limits.mjs';
import { checkedOrder } from '../../libs/jobs/src/enqueuing/job-order.js';
import { DECLARED } from '../../libs/jobs/src/nest/cron-options.js';
import { jobsSettings } from '../../libs/jobs/src/nest/options.js';
import { readEffectOptions, readForEachOptions } from '../../libs/jobs/src/running/effect-options.js';
import { leaseSettings } from '../../libs/lease/src/connect/lease-settings.js';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

describe('the page of limits', () => {
  it('has the range of every option, and every number', async () => {
    const checks = { checkedOrder, DECLARED, jobsSettings, readEffectOptions, readForEachOptions, leaseSettings };
    const page = await limitsPage(checks);
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'));
    expect(rows.filter((row) => /\| *(|any value|undefined|.*has no option.*) *\|$/.test(row))).toEqual([]);
    expect(rows).toContainEqual(expect.stringMatching(/^\| `concurrency` +\| a whole number from 1 to 10000 +\|$/));
    expect(rows).toContainEqual(expect.stringMatching(/^\| `grace` +\| a duration from/));
    expect(rows.length).toBeGreaterThan(80);
  });
});

/** Without what the surroundings add: indentation, and line breaks of another width. */
const squeezed = (code: string) => code.replaceAll(/\s+/g, '').replaceAll(/,(?=[)\]}])/g, '');

describe('the code of the guide', () => {
  const examples = readdirSync(new URL('examples', root)).filter((file) => file.endsWith('.ts'));
  const compiled = examples.map((file) => squeezed(read(`examples/${file}`)));
  const guide = ['getting-started.md', 'concepts.md', 'good-fit.md', 'effects-cookbook.md', 'testing-your-jobs.md'];

  it.each(guide)('docs/%s shows nothing that is not compiled in examples/', (page) => {
    const blocks = [...read(`docs/${page}`).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
    // An import shown with one excerpt stands at the top of its file.
    const parts = blocks.flatMap((block) => block.split(/\n\n/)).map(squeezed);
    expect(parts.filter((part) => !compiled.some((text) => text.includes(part)))).toEqual([]);
  });

  it('shows the Dockerfile that is carried out', () => {
    const [, shown] = /```dockerfile\n([\s\S]*?)```/.exec(read('docs/deploying.md')) ?? [];
    expect(shown).toBe(read('examples/worker-image/Dockerfile'));
    expect(
      shown
        ?.trim()
        .split('\n')
        .filter((line) => line !== '').length,
    ).toBeLessThanOrEqual(12);
  });
});
