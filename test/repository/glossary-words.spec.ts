import { basename } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { projectFiles } from './project-files.js';

/** Words that docs/glossary.md replaced, as parts of names: `RedisPresence` has the parts `redis` and `presence`. */
const REPLACED = new Set([
  ...['campaign', 'wariness', 'roster', 'presence', 'farewell', 'forsaken', 'announcer', 'rescue', 'nudge', 'outlook'],
  ...[
    'segment',
    'segments',
    'stretch',
    'stretches',
    'reign',
    'reigns',
    'punctual',
    'insist',
    'desk',
    'desks',
    'silence',
  ],
  ...[
    'courier',
    'postman',
    'duty',
    'scene',
    'sight',
    'sights',
    'sighting',
    'sightings',
    'twin',
    'twins',
    'door',
    'doors',
  ],
  ...['hurry', 'hurried', 'room', 'rooms', 'house'],
  ...[
    'doubt',
    'doubts',
    'ticket',
    'tickets',
    'tour',
    'tours',
    'carry',
    'insists',
    'nudges',
    'learned',
    'tells',
    'judges',
  ],
]);

/** Limits are called MAX and MIN. */
const LIMIT = /^(MOST|LONGEST|LARGEST|LEAST|SHORTEST)(_|$)/;

interface Allowed {
  readonly files: RegExp;
  readonly words: RegExp;
  readonly why: string;
}

const ALLOWED: readonly Allowed[] = [
  {
    files: /election|coordinat|own-leases|^test\/truth\/(04|22)-|^test\/silence\/05-|^libs\/lease\/|^test\/lease\//,
    words: /campaign/i,
    why: 'a candidate of an Election campaigns',
  },
  { files: /announcer\.tsx$|\.tsx$/, words: /^announcer$/i, why: 'it announces to screen readers' },
  {
    files: /web\/src\/data\/live\.ts$|etcd-transport\.spec\.ts$|failover-faults\.ts$/,
    words: /^silence$/,
    why: 'a server that does not answer',
  },
];

const CODE = /^(libs|apps|test)\/.*\.(tsx?|mjs)$/;
const files = projectFiles(CODE).filter(({ path }) => !isThis(path));

function isThis(path: string): boolean {
  return basename(path) === 'glossary-words.spec.ts';
}

function partsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .split(/[-_.#$]/)
    .map((part) => part.toLowerCase());
}

function isReplaced(name: string): boolean {
  return LIMIT.test(name) || partsOf(name).some((part) => REPLACED.has(part));
}

function isAllowed(path: string, name: string): boolean {
  return ALLOWED.some(
    (one) => one.files.test(path) && (one.words.test(name) || partsOf(name).some((part) => one.words.test(part))),
  );
}

/** Every name that a file declares or uses, but for those of what it has from packages outside. */
function namesIn({ path, text }: { readonly path: string; readonly text: string }): ReadonlyMap<string, number> {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
  const names = new Map<string, number>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      if (!names.has(node.text))
        names.set(node.text, source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

describe('the words that the glossary replaced', () => {
  it('are in no name in libs, apps and test', () => {
    const found = files.flatMap((file) =>
      [...namesIn(file)]
        .filter(([name]) => isReplaced(name) && !isAllowed(file.path, name))
        .map(([name, line]) => `${file.path}:${line}: ${name}`),
    );
    expect(found).toEqual([]);
  });

  it('are in no name of a file', () => {
    const found = files.filter(({ path }) => {
      const [name = ''] = basename(path).split('.');
      return isReplaced(name) && !isAllowed(path, name);
    });
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  it.each(['MOST_TRIES', 'RedisPresence', '#roster', 'leases-desk', 'SILENCE_DESK'])('would be found in %s', (name) => {
    expect(isReplaced(name)).toBe(true);
  });

  it.each(['MAX_TRIES', 'mostly', 'roomy', 'outdoor'])('are not found in %s', (name) => {
    expect(isReplaced(name)).toBe(false);
  });
});
