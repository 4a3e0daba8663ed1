/**
 * The mutants as a table: what is taken out where, which guarantee it defends, and which spec notices.
 * @param {readonly import('./mutation-lab.mjs').Mutant[]} mutants
 * @returns {string} Markdown
 */
export function tableOf(mutants) {
  const byFile = grouped(mutants);
  const files = [...byFile.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  return `${HEAD}\n${files.map((file) => section(file, byFile.get(file) ?? [])).join('\n')}`;
}

const HEAD = `# Defences, each taken out once

Each row is a mutant: one defence is taken out of the sources, and the spec beside it must turn red. \`npm run mutants\`
tries all of them and fails if one survives; \`npm test\` tries one of each promise and one of a security boundary.
`;

function section(file, mutants) {
  const rows = mutants.map(
    ({ name, guards, defence, killedBy }) => `| ${cell(name)} | ${guards} | ${cell(defence)} | ${killedBy} |`,
  );
  return `## ${file}\n\n| taken out | guards | what it defends | killed by |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function cell(text) {
  return text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
}

/** `Map.groupBy` is not in Node 20. */
function grouped(mutants) {
  const byFile = new Map();
  for (const mutant of mutants) byFile.set(mutant.file, [...(byFile.get(mutant.file) ?? []), mutant]);
  return byFile;
}
