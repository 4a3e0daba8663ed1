import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { BoardOfOurs } from './board-of-ours.js';

interface Rendering {
  render(name: string, words: object, done: (error: unknown, html: string) => void): void;
}

const UI = dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json'));
const WORDS = {
  basePath: '/queues/',
  title: 'x',
  favIconAlternative: 'a.png',
  favIconDefault: 'a.svg',
  uiConfig: '{}',
  base: '../queues/',
};

it('the page of the board asks nobody but its pod', async () => {
  const app = new BoardOfOurs().setViewsPath(join(UI, 'dist')).getRouter() as Rendering;
  const html = await new Promise<string>((resolve, reject) => {
    app.render('index', WORDS, (error, text) => (error instanceof Error ? reject(error) : resolve(text)));
  });
  expect(html).toContain('__UI_CONFIG__');
  expect(html).toContain('<base href="../queues/" /><script src="base.js"></script>');
  expect(html).not.toMatch(/https?:/);
});
