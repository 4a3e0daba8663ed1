import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Mutant } from '../mutants/mutation-lab.mjs';
import { MUTANTS, oneOfEach } from '../mutants/mutants.mjs';
import { titlesOf } from '../support/test-titles.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

const numberOf = (section: string): string => section.split(' ')[0] ?? '';

async function mutantsOf(file: string): Promise<readonly Mutant[]> {
  const url = pathToFileURL(`${root}${file}`).href;
  return ((await import(/* @vite-ignore */ url)) as { default: readonly Mutant[] }).default;
}

/** The mutants that a section names, and the file in which it says that all of them are. */
function takenOut(section: string): { names: string[]; file: string | undefined } {
  const line = /^- Taken out: (.+)$/m.exec(section)?.[1] ?? '';
  const names = [...line.matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? '');
  return { names, file: /\[all\]\(\.\.\/([^)]+)\)/.exec(line)?.[1] };
}

describe('the guarantees', () => {
  const page = readFileSync(`${root}docs/guarantees.md`, 'utf8');

  const sections = page.split(/^##+ /m).filter((section) => /^[GN]\d+ /.test(section));

  const promises = sections.filter((section) => section.startsWith('G'));

  const byName = new Map(MUTANTS.map((mutant) => [mutant.name, mutant]));

  it('each promise is numbered, and names tests that are there', () => {
    expect(promises.map(numberOf)).toEqual(promises.map((_, n) => `G${n + 1}`));
    for (const promise of promises) {
      const [title] = promise.split('\n');
      const named = [...(/^- Shown by: (.+)$/m.exec(promise)?.[1] ?? '').matchAll(/`([^`]+)`/g)].map(
        ([, file]) => file,
      );
      expect(named.length, title).toBeGreaterThan(0);
      for (const file of named) expect(existsSync(root + file), `${title}: ${file}`).toBe(true);
    }
  });

  it('each promise and each limit names one test that fails if it is false, by its file and exact title', () => {
    for (const section of sections) {
      const lines = [...section.matchAll(/^- Fails if this is false: `([^`]+)` › (.+)$/gm)];
      expect(lines.length, numberOf(section)).toBe(1);
      const [, file = '', title = ''] = lines[0] ?? [];
      expect(existsSync(root + file), `${numberOf(section)}: ${file}`).toBe(true);
      expect(titlesOf(file), `${numberOf(section)}: ${file}`).toContain(title);
    }
  });

  describe('mutants and guarantees', () => {
    it('each promise names at least one mutant', () => {
      expect(promises.filter((promise) => takenOut(promise).names.length === 0).map(numberOf)).toEqual([]);
    });

    it('each mutant that a promise names exists and guards that promise', () => {
      for (const section of sections) {
        for (const name of takenOut(section).names) expect(byName.get(name)?.guards, name).toBe(numberOf(section));
      }
    });

    it('each mutant guards a numbered guarantee of the page, or a security boundary', () => {
      const valid = new Set([...sections.map(numberOf), 'security']);
      expect(MUTANTS.filter(({ guards }) => !valid.has(guards)).map(({ name }) => name)).toEqual([]);
    });

    it('the file that a guarantee links to contains all mutants that guard it', async () => {
      for (const section of sections) {
        const guarding = MUTANTS.filter(({ guards }) => guards === numberOf(section));
        const { file } = takenOut(section);
        expect(file !== undefined, numberOf(section)).toBe(guarding.length > 0);
        const listed = file === undefined ? [] : await mutantsOf(file);
        expect(listed.filter(({ guards }) => guards === numberOf(section))).toEqual(guarding);
      }
    });
  });
});

function textOf(file: string): string {
  return existsSync(root + file) ? readFileSync(root + file, 'utf8') : '';
}

describe('the mutants', () => {
  it('the text that a mutant replaces occurs exactly once in its file', () => {
    const texts = new Map([...new Set(MUTANTS.map(({ file }) => file))].map((file) => [file, textOf(file)]));
    const count = (file: string, find: string): number => (texts.get(file) ?? '').split(find).length - 1;
    const misfits = MUTANTS.filter(({ file, find }) => count(file, find) !== 1);
    expect(misfits.map(({ name, file, find }) => `${name}: ${count(file, find)} times in ${file}`)).toEqual([]);
  });

  it('a mutant changes the text that it replaces', () => {
    expect(MUTANTS.filter(({ find, replace }) => find === replace)).toEqual([]);
  });

  it('the spec that must kill a mutant exists', () => {
    expect(MUTANTS.filter(({ killedBy }) => !existsSync(root + killedBy)).map(({ name }) => name)).toEqual([]);
  });

  it('no two mutants have the same name', () => {
    const names = MUTANTS.map(({ name }) => name);
    expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
  });

  it('the suite tries at most 30 mutants; `npm run mutants` tries all', () => {
    expect(oneOfEach(MUTANTS).length).toBeLessThanOrEqual(30);
  });
});
