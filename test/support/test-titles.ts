import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The titles of the tests of a file, as they stand in its source; of a contract's `…-claims.ts` those of its claims. */
export function titlesOf(file: string): string[] {
  const titles: string[] = [];
  const isClaims = file.endsWith('-claims.ts');
  const visit = (node: ts.Node): void => {
    const title = titleOf(node) ?? (isClaims ? claimOf(node) : undefined);
    if (title !== undefined) titles.push(title);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(root + file, 'utf8'), ts.ScriptTarget.Latest, true));
  return titles;
}

/** In a page's list: the file of a test, and its title. */
export const NAMED_TEST = /^ +- `([^`]+)` › (.+)$/gm;

/** The tests that a page names and that are not there. */
export function missingTests(markdown: string): string[] {
  const named = [...markdown.matchAll(NAMED_TEST)].map(([, file = '', title = '']) => ({ file, title }));
  const missing = named.filter(({ file, title }) => !existsSync(root + file) || !titlesOf(file).includes(title));
  return missing.map(({ file, title }) => `${file} › ${title}`);
}

function titleOf(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node) || !/^it\b/.test(node.expression.getText())) return undefined;
  const [title] = node.arguments;
  return title && ts.isStringLiteralLike(title) ? title.text : undefined;
}

function claimOf(node: ts.Node): string | undefined {
  const isTest = ts.isPropertyAssignment(node) && ts.isArrowFunction(node.initializer);
  return isTest && ts.isStringLiteral(node.name) ? node.name.text : undefined;
}
