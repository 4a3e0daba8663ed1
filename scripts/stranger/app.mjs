import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { edited, linesIn } from './pages.mjs';
import { type } from './shell.mjs';

/**
 * What `nest new` makes. The command line asks for the module system and takes the first answer where nobody can be asked; what
 * makes the files can be told.
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, nest: number, modules: 'esm' | 'cjs', install: boolean }} wanted
 * @returns {Promise<string>} its folder
 */
export async function newApp({ cwd, env, nest, modules, install }) {
  const isAsked = nest >= 12 && modules === 'cjs';
  const made = `npx --yes @nestjs/cli@${nest} new app --skip-git --package-manager npm`;
  const chosen =
    `npx --yes -p @nestjs/cli@${nest} -p @nestjs/schematics@${nest} schematics @nestjs/schematics:application ` +
    `--name=app --type=${modules}`;
  await type(isAsked ? chosen : `${made}${install ? '' : ' --skip-install'}`, { cwd, env });
  return join(cwd, 'app');
}

/**
 * Writes what the pages show into the app.
 * @param {string} app
 * @param {{ example: string, main: string }} copied
 * @returns {{ example: number, own: number }} lines
 */
export function typeExample(app, { example, main }) {
  writeFileSync(join(app, 'src/app.module.ts'), example);
  writeFileSync(join(app, 'src/main.ts'), main);
  return { example: linesIn(example), own: linesIn(main) };
}

/** @returns {{ example: number, own: number }} lines */
export function typeConsole(app, diff) {
  const file = join(app, 'src/app.module.ts');
  writeFileSync(file, edited(readFileSync(file, 'utf8'), diff));
  return { example: 0, own: diff.split('\n').filter((line) => line.startsWith('+')).length };
}

/**
 * A test as the template has one, of the example: what its runner can't load fails here.
 * @param {string} app
 * @param {'esm' | 'cjs'} modules decides how the template's own tests import
 */
export function writeSpec(app, modules) {
  const from = modules === 'esm' ? './app.module.js' : './app.module';
  writeFileSync(
    join(app, 'src/reports.spec.ts'),
    `import { Test } from '@nestjs/testing';
import { AppModule, Reports } from '${from}';

describe('Reports', () => {
  it('are made by Nest', async () => {
    const module = await Test.createTestingModule({ providers: [Reports] }).compile();
    expect(module.get(Reports)).toBeInstanceOf(Reports);
    expect(AppModule).toBeDefined();
  });
});
`,
  );
}
