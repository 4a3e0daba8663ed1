import { afterEach, describe, expect, it } from 'vitest';
import { redisSpaces } from '../jobs/redis-space.js';
import { startPlainApp, type PlainApp } from '../truth/plain-app.js';

const spaces = redisSpaces();
const apps: PlainApp[] = [];
afterEach(async ({ task }) => {
  for (const app of apps) app.kill('SIGKILL');
  const ended = apps.splice(0);
  await Promise.all(ended.map((app) => app.ended));
  if (task.result?.state === 'fail') for (const app of ended) console.error(app.said());
});

function start(CASE: string, env: Readonly<Record<string, string>> = {}): PlainApp {
  const app = startPlainApp({ PREFIX: spaces.fresh().prefix, CASE, ...env }, 'discovery-app');
  apps.push(app);
  return app;
}

const UNPROVIDED = 'Ticking.tick (@SingletonCron): no module of this application provides it';

describe('JobsModule', () => {
  it('refuses to boot with a class that no module provides, naming class, method and reason', async () => {
    const app = start('forgotten');
    expect(await app.ended).toMatchObject({ code: 1 });
    expect(app.said()).toContain(`UndiscoveredError: A decorated method would never run:\n- ${UNPROVIDED}`);
    expect(app.said()).toContain("code: 'CRONS_UNDISCOVERED'");
    expect(app.said()).not.toMatch(/ran |started/);
  });

  it("boots without that class with undiscovered: 'warn', and logs it", async () => {
    const app = start('forgotten', { UNDISCOVERED: 'warn' });
    await app.says('ran provided');
    expect(app.said()).toContain(`["${UNPROVIDED}`);
  });

  it.each(['lazy-in-init', 'lazy-in-bootstrap'])(
    'runs the crons of a module that a hook of the boot loads lazily (%s)',
    async (which) => {
      const app = start(which);
      await app.says('ran lazy');
      await app.says('ran eager');
      expect(app.said()).toMatch(/pod_started.* crons 2, names \["eager","lazy"\]/);
      expect(app.said()).not.toMatch(/WARN \[Fencepost\] (?!lease server)/);
    },
  );

  it('refuses to boot if the lazy module is loaded later, saying what to do', async () => {
    const app = start('lazy-later');
    expect(await app.ended).toMatchObject({ code: 1 });
    expect(app.said()).toContain("(if a lazy module does, load it before bootstrap, or set undiscovered: 'warn')");
  });

  it("runs the crons of a module that is loaded after the boot, with undiscovered: 'warn'", async () => {
    const app = start('lazy-later', { UNDISCOVERED: 'warn' });
    await app.says('ran lazy');
    expect(app.said()).toContain('ran eager');
  });

  it('runs the crons of a module whose file is imported after the boot', async () => {
    const app = start('imported-later');
    await app.says('ran lazy');
    expect(app.said()).toMatch(/pod_started.* crons 0/);
  });

  it('boots in two applications of one process that provide a class each', async () => {
    const app = start('two-applications');
    await Promise.all([app.says('ran in-a'), app.says('ran in-b')]);
    expect(app.said()).not.toContain('never run');
  });
});
