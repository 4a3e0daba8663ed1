import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { planInit } from './plan-init.js';

type Files = Readonly<Record<string, string>>;

const MANIFEST = {
  dependencies: { '@nestjs/common': '^12.0.1', '@nestjs/core': '^12.0.1', rxjs: '^7.8.1' },
  devDependencies: { typescript: '^6.0.2' },
};

const MAIN = `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000);
}
void bootstrap();
`;

const MODULE = `import { Module } from '@nestjs/common';
import { AppService } from './app.service';

@Module({
  imports: [],
  providers: [AppService],
})
export class AppModule {}
`;

const APP: Files = {
  'package.json': `${JSON.stringify(MANIFEST, null, 2)}\n`,
  'nest-cli.json': '{ "sourceRoot": "src" }',
  'src/main.ts': MAIN,
  'src/app.module.ts': MODULE,
};

function init(files: Files, { console = true } = {}): Files {
  const changes = planInit({ ts, console, read: (file) => files[file] ?? null });
  return { ...files, ...Object.fromEntries(changes.map(({ file, text }) => [file, text])) };
}

/** The application with another module, after init. */
function moduleAfter(module: string, options?: { console: boolean }): string {
  const text = init({ ...APP, 'src/app.module.ts': module }, options)['src/app.module.ts'] ?? '';
  expect(ts.transpileModule(text, { reportDiagnostics: true }).diagnostics).toEqual([]);
  return text;
}

describe('init', () => {
  it('writes the example of the README into the application that "nest new" makes', () => {
    const after = init(APP);
    expect(after['src/app.module.ts']).toBe(`import { Module } from '@nestjs/common';
import { JobsModule } from '@fencepost/jobs';
import { ConsoleModule } from '@fencepost/console';
import { AppService } from './app.service';
import { Reports } from './reports';

const redis = process.env.REDIS_URL ?? 'redis://localhost:6379';

@Module({
  imports: [
    JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis }),
    ConsoleModule.forRoot({ path: '/crons', auth: { tokens: process.env.FENCEPOST_TOKENS } }),
  ],
  providers: [AppService, Reports],
})
export class AppModule {}
`);
    expect(after['src/main.ts']).toBe(
      MAIN.replace(
        '(AppModule);\n',
        '(AppModule);\n  app.enableShutdownHooks(); // a deploy waits for the runs that are under way\n',
      ),
    );
    expect(after['src/reports.ts']).toContain("import { SingletonCron, type RunContext } from '@fencepost/jobs';");
  });

  it('names the dependencies in the newest ranges that the packages are made for, and keeps what is there', () => {
    const { version, peerDependencies } = JSON.parse(
      readFileSync(new URL('../../../../libs/jobs/package.json', import.meta.url), 'utf8'),
    ) as { version: string; peerDependencies: Record<string, string> };
    const newest = (name: string) => peerDependencies[name]?.split(' || ').at(-1);
    const [bullmq, ioredis] = [newest('bullmq'), newest('ioredis')];
    const own = `^${version}`;
    const added = { '@fencepost/console': own, '@fencepost/jobs': own };
    expect(JSON.parse(init(APP)['package.json'] ?? '')).toEqual({
      dependencies: { ...MANIFEST.dependencies, ...added, bullmq, ioredis },
      devDependencies: { ...MANIFEST.devDependencies, fencepost: own },
    });
    const pinned = { ...MANIFEST, dependencies: { ...MANIFEST.dependencies, ioredis: '6.0.0' } };
    const after = init({ ...APP, 'package.json': JSON.stringify(pinned) }, { console: false })['package.json'] ?? '';
    expect(after).toContain('"ioredis": "6.0.0"');
    expect(after).not.toContain('@fencepost/console');
  });

  it.each([true, false])('changes nothing a second time (with console: %s)', (console) => {
    const once = init(APP, { console });
    expect(init(once, { console })).toEqual(once);
  });

  it('leaves alone a module that was set up by hand, however that is written', () => {
    const own = `import { JobsModule } from '@fencepost/jobs';
import { ConsoleModule } from '@fencepost/console';

@Module({ imports: imports() })
export class AppModule {}
`;
    expect(init({ ...APP, 'src/app.module.ts': own })['src/app.module.ts']).toBe(own);
  });

  it('adds the console later, and no example to an application that has its own crons', () => {
    const { 'src/reports.ts': _, ...own } = init(APP, { console: false });
    const after = init(own);
    expect(Object.keys(after)).toEqual(Object.keys(own));
    expect(after['src/app.module.ts']).toMatch(/redis }\),\n {4}ConsoleModule\.forRoot/);
  });

  it('writes .js where the application does, or is of ES modules', () => {
    const extended = Object.fromEntries(
      Object.entries(APP).map(([file, text]) => [file, text.replace(/'(\.\/[\w.]+)'/, "'$1.js'")]),
    );
    expect(init(extended)['src/app.module.ts']).toContain("import { Reports } from './reports.js';");
    const type = { ...APP, 'package.json': JSON.stringify({ ...MANIFEST, type: 'module' }) };
    expect(init(type)['src/app.module.ts']).toContain("import { Reports } from './reports.js';");
  });

  it('follows nest-cli.json and main.ts to the module, wherever that is', () => {
    const { 'src/main.ts': main = '', 'src/app.module.ts': module = '', ...rest } = APP;
    const moved = {
      ...rest,
      'nest-cli.json': '{ "sourceRoot": "apps/shop/src", "entryFile": "start" }',
      'apps/shop/src/start.ts': main.replace('./app.module', './root/shop.module').replaceAll('AppModule', 'Shop'),
      'apps/shop/src/root/shop.module.ts': module.replaceAll('AppModule', 'Shop'),
    };
    const after = init(moved);
    expect(after['apps/shop/src/root/shop.module.ts']).toContain('JobsModule.forRoot');
    expect(after['apps/shop/src/root/reports.ts']).toContain('@SingletonCron');
  });

  it('keeps the style of a module: quotes, semicolons, commas, comments, and a name that is taken', () => {
    const styled = `import { Module } from "@nestjs/common"
import { redis } from "./redis"

@Module({
  imports: [
    A,
    B // the last
  ],
})
export class AppModule {}
`;
    const after = moduleAfter(styled);
    expect(after).toContain('import { JobsModule } from "@fencepost/jobs"\n');
    expect(after).toContain(`    B, // the last
    JobsModule.forRoot({ roles: ["scheduler", "worker"], redis: process.env.REDIS_URL ?? "redis://localhost:6379" }),
`);
    expect(after).toContain('  providers: [Reports],');
    expect(after).not.toContain('const redis');
  });

  it.each([
    '@Module({})',
    '@Module({ controllers: [] })',
    '@Module({ imports: [A, B], providers: [{ provide: A, useValue: 1 }] })',
  ])('adds to %s', (decorator) => {
    const after = moduleAfter(`import { Module } from '@nestjs/common';\n\n${decorator}\nexport class AppModule {}\n`);
    const compact = after.replaceAll(/\s+/g, '');
    expect(compact).toContain('imports:[');
    expect(compact).toMatch(/providers:\[.*Reports,?\]/);
    expect(compact).toContain(decorator.includes('A, B') ? '[A,B,JobsModule' : '[JobsModule');
  });

  it.each<[string, Files, string]>([
    ['with a package.json that is none', { 'package.json': '{' }, 'Cannot read package.json'],
    ['outside of a Nest application', { 'package.json': '{"dependencies":{"express":"5"}}' }, 'without @nestjs/core'],
    ['without main.ts', { 'nest-cli.json': '{"sourceRoot":"lib"}' }, 'the file lib/main.ts'],
    ['with a nest-cli.json that is none', { 'nest-cli.json': '{' }, 'Cannot read nest-cli.json'],
    ['that is made otherwise', { 'src/main.ts': 'NestFactory.create(AppModule).then(start);' }, 'found none'],
    ['of two applications', { 'src/main.ts': MAIN + MAIN.replace('bootstrap', 'other') }, 'found 2'],
    ['that serves no HTTP', { 'src/main.ts': MAIN.replace('.create(', '.createApplicationContext(') }, '--no-console'],
    [
      'whose module is elsewhere',
      { 'src/main.ts': MAIN.replace("'./app.module'", "'@shop/app'") },
      'to import AppModule',
    ],
    [
      'whose module is a function',
      { 'src/app.module.ts': 'export const AppModule = make();' },
      'a class AppModule with @Module',
    ],
    [
      'whose imports are calculated',
      { 'src/app.module.ts': MODULE.replace('[]', 'modules()') },
      '"imports" to be an array',
    ],
    [
      'whose providers are calculated',
      { 'src/app.module.ts': MODULE.replace('[AppService]', 'all') },
      '"providers" to be an array',
    ],
    ['that has the file of the example', { 'src/reports.ts': 'export {};' }, 'Expected no file src/reports.ts'],
  ])('refuses an application %s, and says what to do', (_, over, sentence) => {
    const files = { ...APP, ...over };
    expect(() => init(files)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(sentence) }),
    );
  });
});
