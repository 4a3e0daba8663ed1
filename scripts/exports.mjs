import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from './exclusive.mjs';
import { program } from './program.mjs';

/** Every name that an entry exports is one more to learn, to document and to keep compatible. */
const MAIN = 30;
const FURTHER = 15;

/** Entries with a budget of their own. A budget may shrink; raising one needs a reason in the commit. */
const BUDGETS = {
  '@fencepost/lease': 25,
  '@fencepost/ledger': 44,
  '@fencepost/ledger/run': 23,
  '@fencepost/ledger/catalog': 40,
  '@fencepost/jobs/internal': 109,
  '@fencepost/operations': 32,
  '@fencepost/operations/internal': 38,
  '@fencepost/operations/presenting': 19,
};

/**
 * The names that each entry of each library exports, types included.
 * @param {string} repository the folder with `libs` in it
 * @returns {{ entry: string, names: string[], budget: number }[]}
 */
export function exportedNames(repository) {
  return readdirSync(join(repository, 'libs')).flatMap((lib) => {
    const manifest = join(repository, 'libs', lib, 'package.json');
    const { name, private: own, exports = {} } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
    if (own) return [];
    return Object.entries(exports).map(([path, { '@fencepost/source': source }]) => {
      const entry = join(name, path);
      const names = [...namesIn(join(repository, 'libs', lib, source))].toSorted();
      return { entry, names, budget: BUDGETS[entry] ?? (path === '.' ? MAIN : FURTHER) };
    });
  });
}

/**
 * @param {ReturnType<typeof exportedNames>} entries
 * @returns {string[]} a sentence for each entry over its budget
 */
export function overBudget(entries) {
  const over = entries.filter(({ names, budget }) => names.length > budget);
  return over.map(({ entry, names, budget }) => `${entry} exports ${names.length} names, its budget is ${budget}.`);
}

/** @returns {Set<string>} */
function namesIn(file) {
  const { statements } = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  return new Set(statements.flatMap((statement) => namesOf(statement, file)));
}

function namesOf(statement, file) {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause: clause, moduleSpecifier: from } = statement;
    if (!clause) return [...namesIn(join(dirname(file), from.text.replace(/\.js$/, '.ts')))];
    return ts.isNamespaceExport(clause) ? [clause.name.text] : clause.elements.map(({ name }) => name.text);
  }
  if (!ts.canHaveModifiers(statement)) return [];
  if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
  return declared.map(({ name }) => name?.text ?? 'default');
}

await program(import.meta.url, async () => {
  const entries = exportedNames(root);
  for (const { entry, names, budget } of entries) console.log(`${entry}: ${names.length} of ${budget}`);
  const lines = overBudget(entries);
  for (const line of lines) console.error(line);
  return lines.length;
});
