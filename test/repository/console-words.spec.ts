import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { projectFiles } from './project-files.js';

const PAGE = /^libs\/console\/web\/src\/(?!words\.ts$).*(?<!\.spec)\.tsx?$/;

/** What of an element nobody reads; any other attribute may hold a text. */
const TECHNICAL = new Set([
  ...['class', 'className', 'href', 'id', 'key', 'type', 'role', 'style', 'scope', 'method', 'path', 'name', 'value'],
  ...['autocomplete', 'aria-live', 'aria-hidden', 'focusable', 'pattern', 'tone', 'd', 'viewBox', 'x', 'y', 'width'],
  ...[
    'height',
    'preserveAspectRatio',
    'order',
    'outcome',
    'data-tab',
    'aria-controls',
    'aria-labelledby',
    'rel',
    'target',
  ],
]);
/** Properties whose value is read as it stands. */
const SHOWN = new Set(['title', 'label', 'text', 'hint', 'caption', 'what', 'verb', 'placeholder', 'intro']);
/** Names that belong to the browser. */
const NAMES = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'Enter', 'TimeoutError']);
const BROWSER = /^(\(prefers-|input, )/;

const LETTER = /\p{L}/u;
/** A word with a capital letter, or two words. */
const PROSE = /^\p{Lu}\p{Ll}|\p{L}[\p{Pd}:;,.]? \p{L}/u;

/** The texts of a file that a reader of the page sees. */
function textsOf(path: string, source: string): string[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isTechnical(node)) return;
    if (!isText(node)) return ts.forEachChild(node, visit);
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    found.push(`${path}:${line + 1} ${node.getText().trim()}`);
  };
  visit(file);
  return found;
}

function isTechnical(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return true;
  if (ts.isPropertyDeclaration(node)) return node.name.getText() === 'name';
  return ts.isJsxAttribute(node) && TECHNICAL.has(node.name.getText());
}

function isText(node: ts.Node): boolean {
  if (ts.isJsxText(node)) return LETTER.test(node.text);
  const text = literalOf(node);
  if (text === null || !LETTER.test(text) || NAMES.has(text) || BROWSER.test(text)) return false;
  return isShown(node) || PROSE.test(text);
}

/** What a literal says; any value in a template is a word. */
function literalOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  const parts = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
  return parts.some((part) => LETTER.test(part)) ? parts.join('value') : null;
}

/** Whether a literal is what an element or an attribute shows, also where it is one of two. */
function isShown({ parent }: ts.Node): boolean {
  if (ts.isConditionalExpression(parent) || ts.isParenthesizedExpression(parent)) return isShown(parent);
  if (ts.isPropertyAssignment(parent)) return SHOWN.has(parent.name.getText());
  return ts.isJsxExpression(parent) || ts.isJsxAttribute(parent);
}

const CAUGHT: readonly string[] = [
  '<p>Nothing yet</p>',
  '<p>{count} done</p>',
  '<p>{isOpen ? "open" : null}</p>',
  '<Section title="runs" />',
  '<button aria-label={`Clear ${name}`} />',
  'const columns = [{ title: "run" }]',
  'const text = "is muted"',
  'const text = `${name} failed`',
  "const OPTIONS = [['cron', 'One']]",
];
const PASSED: readonly string[] = [
  '<p class="quiet small">{words.nothing} …</p>',
  "import { a } from './a b.js'",
  'const key = `attempt-${n}`',
  "const state: 'is it' = failed",
  "if (event.key === 'ArrowLeft') go()",
];

describe('the words of the page', () => {
  it('stand in words.ts alone', () => {
    expect(projectFiles(PAGE).flatMap(({ path, text }) => textsOf(path, text))).toEqual([]);
  });

  it.each(CAUGHT)('would be caught in %j', (source) => expect(textsOf('a.tsx', source)).toHaveLength(1));
  it.each(PASSED)('would not be caught in %j', (source) => expect(textsOf('a.tsx', source)).toEqual([]));
});
