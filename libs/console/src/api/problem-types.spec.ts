import { readdirSync, readFileSync } from 'node:fs';
import { problemDetails } from '@fencepost/lease/http';
import { format, resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import { PROBLEM_TYPES } from './problem-types.js';

const PAGE = new URL('../../../../docs/problems.md', import.meta.url).pathname;
const SOURCES = new URL('../', import.meta.url);

const HEAD = `# Problems

Every error of the console's API is a problem as RFC 9457 has it, \`application/problem+json\`:

\`\`\`json
{
  "type": "https://fencepost.dev/problems/cron-unknown",
  "title": "Unknown cron",
  "status": 404,
  "detail": "Expected the name of a cron of the catalog, got \\"nope\\".",
  "code": "CRON_UNKNOWN"
}
\`\`\`

\`type\`, \`title\` and \`code\` are stable; decide by \`code\`. \`detail\` is a sentence for a person and may change. A refusal has the state that
it was refused for as further members. The [OpenAPI document](openapi.json) lists the problems of each route.
`;

const LEASES = `The last four are answers of \`LeaseProblemFilter\` of \`@fencepost/lease/http\`, in an application of your own.\n`;

function section(code: string, { status, title, remedy }: (typeof PROBLEM_TYPES)[string] & {}): string {
  const name = problemDetails(code, { status, title, detail: '' }).type.split('/').at(-1);
  return `## ${name}\n\n${status}, ${title}. \`${code}\`. ${remedy}\n`;
}

const OF_LEASES = {
  LEASE_BUSY: { status: 423, title: 'Locked', remedy: 'Retry after the seconds in `Retry-After`.' },
  LEASE_LOST: { status: 503, title: 'Interrupted', remedy: 'Check what took effect before you repeat it.' },
  STALE_FENCE: { status: 409, title: 'Stale fence', remedy: 'Stop: a newer holder has written. Nothing was changed.' },
  BAD_FENCE_HEADERS: { status: 400, title: 'No valid fence', remedy: 'Send both fence headers, once each.' },
};

describe('the types of problems (to write the page anew: npx vitest run libs/console/src/api/problem-types.spec.ts --update)', () => {
  it('each have a section in docs/problems.md, under the last part of their address', async () => {
    const all = Object.entries({ ...PROBLEM_TYPES, ...OF_LEASES });
    const text = [HEAD, LEASES, ...all.map(([code, type]) => section(code, type))].join('\n');
    const page = await format(text, { ...(await resolveConfig(PAGE)), filepath: PAGE });
    await expect(page).toMatchFileSnapshot(PAGE);
  });

  it('are all that the console refuses a request with', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /(?<!spec)\.ts$/.test(file),
    );
    const text = files.map((file) => readFileSync(new URL(file, SOURCES), 'utf8')).join('\n');
    const codes = [...text.matchAll(/(?:new Refusal\(\s*\d+,\s*|readonly code = |conflicts: )'([A-Z_]+)'/g)].map(
      ([, code = '']) => code,
    );
    expect(codes.length).toBeGreaterThan(8);
    expect(codes.filter((code) => !(code in PROBLEM_TYPES))).toEqual([]);
  });

  it('answer for each error of a store that the libraries throw', () => {
    const root = new URL('../../../', import.meta.url);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /^\w+\/src\/.*(?<!spec)\.ts$/.test(file),
    );
    const text = files.map((file) => readFileSync(new URL(file, root), 'utf8')).join('\n');
    const codes = [...text.matchAll(/extends StoreAwayError \{\s*readonly code = '([A-Z_]+)'/g)].map(
      ([, code = '']) => code,
    );
    expect(codes.length).toBeGreaterThan(8);
    expect(codes.filter((code) => PROBLEM_TYPES[code]?.status !== 503)).toEqual([]);
  });
});
