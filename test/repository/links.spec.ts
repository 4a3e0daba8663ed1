import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { projectFiles } from './project-files.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = projectFiles(/\.md$/);

/** Headings as anchors, the way GitHub builds them. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm);
  const slugs = [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(slugs);
}

function isBroken(page: string, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? join(root, page) : join(root, dirname(page), file);
  if (!existsSync(path)) return true;
  return anchor !== undefined && path.endsWith('.md') && !anchorsOf(readFileSync(path, 'utf8')).has(anchor);
}

function brokenLinks(page: string, markdown: string): string[] {
  const targets = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target) && isBroken(page, target));
}

describe('the links of the documentation', () => {
  it.each(pages)('$path links to files and headings that exist', ({ path, text }) => {
    expect(brokenLinks(path, text)).toEqual([]);
  });

  it('would be found out otherwise', () => {
    const text = '[a](gone.md) [b](README.md#gone) [c](#the-proof) [d](LICENSE) [e](https://example.org/gone.md)';
    expect(brokenLinks('README.md', text)).toEqual(['gone.md', 'README.md#gone']);
  });
});
