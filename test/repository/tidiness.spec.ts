import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { projectFiles } from './project-files.js';

interface Rule {
  readonly claim: string;
  readonly files: RegExp;
  readonly except?: RegExp;
  readonly forbidden: RegExp;
  /** What the rule is for: each of these has to be caught, or the rule guards nothing. */
  readonly caught: readonly string[];
}

interface Config {
  readonly forbidden: readonly { name: string; from: { path: string[] } }[];
}

const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as Config;
const PURE = new RegExp(forbidden.find(({ name }) => name === 'pure-without-clock')?.from.path.join('|') ?? '(?!)');
const TEST = /\.(spec|contract|stage)\.ts$/;

/** Examples are cut in two by `¦`, so that no rule is broken by the place it stands in. */
const RULES: readonly Rule[] = [
  {
    claim: "no file names a path of somebody's machine",
    files: /./,
    forbidden: /(?<![\w.~})/-])\/(home|root|Users|work)\/[\w.-]/,
    caught: ["'/¦home/anna/fencepost'", '(/¦work/x.json)', '/¦Users/otto'],
  },
  {
    claim: 'no file leaves work to a later day',
    files: /./,
    forbidden: /\b(TO_?DO|FIX_?ME|X{3})\b/,
    caught: ['// TO¦DO: later', '# FIX¦ME'],
  },
  {
    claim: 'no file silences the linter or the compiler',
    files: /\.(tsx?|mjs|cjs)$/,
    forbidden: /(eslint|oxlint)-(disable|enable)|@ts-(ignore|expect-error|nocheck)/,
    caught: ['// oxlint-¦disable-next-line', '// @ts-¦ignore'],
  },
  {
    claim: 'no test is left out or left alone',
    files: TEST,
    forbidden: /\b(it|test|describe)\.(skip|only|todo)\b/,
    caught: ['it.¦skip(', 'describe.¦only('],
  },
  {
    claim: 'no test waits by the clock for something to have happened',
    files: TEST,
    except: /^test\/support\//,
    forbidden:
      /setTimeout\(\s*(\(\)\s*=>\s*)?[a-z]\w*(\(\))?\s*,\s*[\d_]+\s*\)|await\s+(setTimeout|sleep|delay|wait|pause)\((\w+,\s*)?[\d_]+/,
    caught: [
      'new Promise((resolve) => setTimeout¦(resolve, 50))',
      'setTimeout¦(() => done(), 1_000)',
      'await sleep¦(systemClock, 20)',
      'await setTimeout¦(100)',
    ],
  },
  {
    claim: 'a pure file reads no clock, sets no timer and throws no dice',
    files: PURE,
    except: /(^libs\/lease\/src\/base\/clock\.ts|\.(spec|stage)\.ts)$/,
    forbidden: /\b(Date\.now|new Date\(\)|performance\.now|setTimeout|setInterval|Math\.random|randomUUID|systemClock)/,
    caught: ['const now = Date¦.now();', 'new Date¦()', 'const clock = system¦Clock;'],
  },
  {
    claim: 'a library finds no file by its own address, which a bundle does not have',
    files: /^libs\/[^/]+\/src\/.*\.ts$/,
    // The build writes constants in the place of these modules; the page stays outside of bundles.
    except:
      /((lua|sql)\/texts|\/library-version|\/open-api-document|^libs\/console\/src\/http\/page|^libs\/lease\/src\/base\/read-texts|\.(spec|contract|stage))\.ts$/,
    forbidden: /\bimport\.meta\b|\b__dirname\b/,
    caught: ["new URL('./lua/', import.meta¦.url)"],
  },
  {
    claim: 'Lua stands in .lua files',
    files: /^(libs|apps)\/.*\.ts$/,
    except: TEST,
    forbidden: /\b(KEYS|ARGV)\[\d/,
    caught: ["redis.call('GET', KEYS¦[1])"],
  },
];

function offences({ files, except, forbidden: pattern }: Rule): string[] {
  const looked = projectFiles(files).filter(({ path }) => !except?.test(path));
  return looked.flatMap(({ path, text }) => {
    const lines = text.split('\n').map((line, at) => ({ line, at: at + 1 }));
    return lines.filter(({ line }) => pattern.test(line)).map(({ line, at }) => `${path}:${at}: ${line.trim()}`);
  });
}

/** A list, which is read as a whole. */
const SENTENCES = 'libs/console/web/src/words.ts';

describe('the repository', () => {
  describe.each(RULES)('$claim', (rule) => {
    it('holds', () => expect(offences(rule)).toEqual([]));
    it.each(rule.caught)('would catch %j', (example) => expect(example.replace('¦', '')).toMatch(rule.forbidden));
  });

  it('has no file over 300 lines in libs and apps', () => {
    const long = projectFiles(/^(libs|apps)\/.*\.(tsx?|lua|sql|html|css)$/)
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ path, lines }) => lines > 300 && path !== SENTENCES);
    expect(long).toEqual([]);
  });

  it('names files in kebab-case, with a dot only before a role', () => {
    const named =
      /^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*(\.(module|controller|decorator|processor|config|d))?(\.(spec|contract|stage))?\.(tsx?|mjs|lua|sql|html|css|svg|md|json)$/;
    const others = projectFiles(/^(libs|apps)\//).filter(
      ({ path }) => !/\/(README\.md|LICENSE|package\.json)$/.test(path),
    );
    expect(others.length).toBeGreaterThan(0);
    expect(others.map(({ path }) => path).filter((path) => !named.test(path))).toEqual([]);
  });

  it('tells of its version in the changelog', () => {
    const [manifest] = projectFiles(/^package\.json$/).map(({ text }) => JSON.parse(text) as { version: string });
    const changelog = projectFiles(/^CHANGELOG\.md$/).map(({ text }) => text);
    const headings = changelog.join('\n').match(/^## .*$/gm) ?? [];
    expect(headings.map((heading) => /\d+\.\d+\.\d+\S*?(?=\]|\s|$)/.exec(heading)?.[0])).toContain(manifest?.version);
  });
});
