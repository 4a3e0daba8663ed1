import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { newToken } from '@fencepost/operations/access-tokens';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';
import { fencepost as inProcess } from '../support/fencepost.js';
import { privateRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'apps/cli/bin/fencepost.mjs');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

// What a build has to say would stand among what the program says.
beforeAll(() => ensureBuilt(), 600_000);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const around = { cwd, env: { ...process.env, NO_COLOR: '1', ...env } };
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], around, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err }),
    );
  });
}

/** What the program does in this folder, in this process: starting one takes far longer than anything it does there. */
async function fencepost(cwd: string, args: readonly string[]): Promise<Ended> {
  const from = process.cwd();
  process.chdir(cwd);
  try {
    const { code, out, err } = await inProcess(args);
    return { code, out, err };
  } finally {
    process.chdir(from);
  }
}

/** A project of these files, with the packages of this one. */
function project(files: Readonly<Record<string, string>>, { packages = true } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-project-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  if (packages) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Every file of a project, its packages excepted. */
function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = names
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.includes('node_modules'));
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]));
}

/** What "nest new" makes, of ES modules. */
function nestApp(): Record<string, string> {
  const options = {
    ...{ module: 'nodenext', moduleResolution: 'nodenext', resolvePackageJsonExports: true, esModuleInterop: true },
    ...{ isolatedModules: true, declaration: true, removeComments: true, emitDecoratorMetadata: true },
    ...{ experimentalDecorators: true, allowSyntheticDefaultImports: true, target: 'ES2023', types: ['node'] },
    ...{ outDir: './dist', rootDir: './src', skipLibCheck: true, strict: true, strictPropertyInitialization: false },
  };
  const dependencies = {
    '@nestjs/common': '^12.0.1',
    '@nestjs/core': '^12.0.1',
    '@nestjs/platform-express': '^12.0.1',
  };
  return {
    'package.json': JSON.stringify({ name: 'app', private: true, type: 'module', dependencies }, null, 2),
    'nest-cli.json': JSON.stringify({ collection: '@nestjs/schematics', sourceRoot: 'src' }),
    'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['src'] }),
    'src/app.service.ts': `import { Injectable } from '@nestjs/common';\n\n@Injectable()\nexport class AppService {}\n`,
    'src/app.module.ts': `import { Module } from '@nestjs/common';
import { AppService } from './app.service.js';

@Module({
  imports: [],
  providers: [AppService],
})
export class AppModule {}
`,
    'src/main.ts': `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000);
}
void bootstrap();
`,
  };
}

describe('fencepost init', { timeout: 180_000 }, () => {
  // In CommonJS the same text is compiled and booted by packed.spec.ts.
  it('makes an application that compiles, boots and has a cron', async () => {
    const folder = project(nestApp());
    const done = await run(folder, [PROGRAM, 'init']);
    expect(done).toMatchObject({ code: 0, err: '', out: expect.stringContaining('created  src/reports.ts') });
    expect(done.out).toContain('npm install');
    expect(await run(folder, [TSC, '-p', '.'])).toEqual({ code: 0, out: '', err: '' });

    const redis = await privateRedis();
    closing.push(() => redis.stop());
    const { line } = newToken('me', 'admin');
    const env = { ...process.env, REDIS_URL: redis.url, FENCEPOST_TOKENS: line, PORT: '0', NO_COLOR: '1' };
    const app = spawn(process.execPath, ['dist/main.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const closed = once(app, 'close');
    closing.push(() => (app.exitCode === null && app.signalCode === null ? (app.kill('SIGKILL'), closed) : closed));
    let said = '';
    for (const stream of [app.stdout, app.stderr]) stream.on('data', (text: Buffer) => void (said += text.toString()));
    await until('the application has started', async () => {
      if (app.exitCode !== null) throw new Error(said);
      return said.includes('successfully started');
    });
    const { out } = await fencepost(folder, ['list', '--redis', redis.url, '--json']);
    expect(JSON.parse(out)).toMatchObject([{ name: 'nightly-report', timeZone: 'Europe/Berlin', state: 'active' }]);
    app.kill('SIGTERM');
    expect(await closed).toEqual([null, 'SIGTERM']);
  });

  it('shows a diff and changes nothing with --dry-run; changes nothing a second time, and says so', async () => {
    const folder = project(nestApp());
    const before = filesOf(folder);
    const dry = await fencepost(folder, ['init', '--dry-run']);
    expect(dry).toMatchObject({ code: 0, err: '', out: expect.stringContaining('+++ b/src/reports.ts') });
    expect(dry.out).toContain('+  app.enableShutdownHooks();');
    expect(filesOf(folder)).toEqual(before);
    const first = await fencepost(folder, ['init', '--no-console', '--json']);
    const files = ['package.json', 'src/app.module.ts', 'src/main.ts', 'src/reports.ts'];
    expect(JSON.parse(first.out)).toMatchObject({
      written: true,
      files: files.map((file) => ({ file })),
      install: 'npm install',
    });
    const changed = filesOf(folder);
    expect(changed['src/app.module.ts']).not.toContain('ConsoleModule');
    const again = await fencepost(folder, ['init', '--no-console']);
    expect(again).toEqual({ code: 0, err: '', out: 'Fencepost is set up already; nothing was changed.\n' });
    expect(filesOf(folder)).toEqual(changed);
  });

  it('installs with the manager of the project, and fails where that fails', async () => {
    const folder = project({
      ...nestApp(),
      'pnpm-lock.yaml': '',
      'bin/pnpm': '#!/bin/sh\necho "$@" > asked; exit 7\n',
    });
    chmodSync(join(folder, 'bin/pnpm'), 0o755);
    vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`);
    const ended = await fencepost(folder, ['init', '--install']);
    expect(ended).toMatchObject({ code: 2, out: '', err: expect.stringContaining('"pnpm install" failed') });
    expect(filesOf(folder)['asked']).toBe('install\n');
  });

  it('refuses where nothing is, and what it does not understand, and leaves all of it as it is', async () => {
    const nowhere = project({ 'notes.txt': '' }, { packages: false });
    expect(await fencepost(nowhere, ['init'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^Expected a Nest application/),
    });
    const app = nestApp();
    const folder = project({ ...app, 'src/app.module.ts': 'export const AppModule = make();\n' });
    const before = filesOf(folder);
    const refused = await fencepost(folder, ['init']);
    expect(refused).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('Add by hand JobsModule.forRoot('),
    });
    expect(filesOf(folder)).toEqual(before);
  });

  it('takes back what it has written where a file can not be written', async () => {
    const folder = project(nestApp());
    const before = filesOf(folder);
    // Nothing is there to read, and nothing can be made: not by root either.
    symlinkSync('/nowhere/at/all', join(folder, 'src/reports.ts'));
    const ended = await fencepost(folder, ['init']);
    expect(ended).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^Nothing was changed: EEXIST/) });
    expect(filesOf(folder)).toEqual(before);
  });
});

describe('fencepost migrate-schedule', { timeout: 120_000 }, () => {
  const TASKS = `import { Cron, Timeout } from '@nestjs/schedule';

export class Tasks {
  @Cron('0 3 * * *')
  nightly(): void {}
}
`;

  it('prints a diff and changes nothing with --dry-run, changes the files without, and has nothing to do afterwards', async () => {
    const folder = project({ 'src/tasks.ts': TASKS, 'src/other.ts': 'export {};\n' });
    const dry = await fencepost(folder, ['migrate-schedule', '--dry-run']);
    expect(dry).toMatchObject({ code: 0, err: '' });
    expect(dry.out).toMatch(/^--- a\/src\/tasks\.ts/m);
    expect(dry.out).toContain("+  @SingletonCron('0 3 * * *', { name: 'tasks-nightly' })");
    expect(dry.out).toContain('Would translate 1 cron in 1 file; nothing is changed with --dry-run.');
    expect(filesOf(folder)['src/tasks.ts']).toBe(TASKS);
    const written = await fencepost(folder, ['migrate-schedule', '--tz', 'Europe/Berlin']);
    expect(written).toMatchObject({ code: 0, err: '' });
    expect(written.out).toMatch(/^changed {2}src\/tasks\.ts\n\nTranslated 1 cron in 1 file\.\n/);
    expect(filesOf(folder)).toMatchObject({
      'src/tasks.ts': expect.stringContaining("{ name: 'tasks-nightly', timeZone: 'Europe/Berlin' }"),
      'src/other.ts': 'export {};\n',
    });
    expect(await fencepost(folder, ['migrate-schedule'])).toMatchObject({ code: 0, out: 'Nothing to translate.\n' });
  });

  it('fails with 1 for what a person has to decide, and with 2 where there is nothing to read, or nothing to read it with', async () => {
    const folder = project({ 'src/tasks.ts': TASKS.replace("@Cron('0 3 * * *')", '@Timeout(5_000)') });
    const decide = await fencepost(folder, ['migrate-schedule', '--dry-run', '--json']);
    expect([decide.code, JSON.parse(decide.out)]).toEqual([
      1,
      expect.objectContaining({ written: false, decide: [expect.objectContaining({ file: 'src/tasks.ts', line: 4 })] }),
    ]);
    expect(await fencepost(folder, ['migrate-schedule', 'lib'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('"lib"'),
    });
    const bare = project({ 'src/tasks.ts': TASKS }, { packages: false });
    const none = await fencepost(bare, ['migrate-schedule']);
    expect(none).toMatchObject({ code: 2, out: '', err: expect.stringContaining('npm i -D typescript') });
  });
});
