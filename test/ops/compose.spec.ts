import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectionsToCompose } from '../../scripts/ops/compose.mjs';

const FILE = fileURLToPath(new URL('../../docker-compose.yml', import.meta.url));

describe('docker-compose.yml', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'compose-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it('is valid by the schema of the Compose specification', () => {
    expect(objectionsToCompose(FILE)).toEqual([]);
  });

  it.each([
    ['healthcheck:', 'healthchek:', '/services/redis'],
    ['replicas: 3', 'replicas: [three]', '/services/scheduler/deploy/replicas'],
    ['condition: service_healthy', 'condition: service_helthy', '/services/scheduler/depends_on'],
    ['stop_grace_period: 45s', 'stop_grace_period: [45]', '/stop_grace_period'],
  ])('would be refused with another "%s": %s', (right, wrong, where) => {
    const text = readFileSync(FILE, 'utf8');
    expect(text).toContain(right);
    const broken = join(folder, 'docker-compose.yml');
    writeFileSync(broken, text.replace(right, wrong));
    expect(objectionsToCompose(broken).join()).toMatch(new RegExp(`invalid-schema: .*${where}`));
  });
});
