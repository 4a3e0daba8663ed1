import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { leaseMetrics } from '@fencepost/lease/metrics';
import { LOG_LINES } from '../../libs/lease/src/telemetry/lease-log.js';
import { projectFiles } from './project-files.js';

const readme = readFileSync(new URL('../../libs/lease/README.md', import.meta.url), 'utf8');

/** The first `columns` cells of each row of the first table under a heading, in the order of the first. */
function documented(heading: string, columns: number): string[][] {
  const [, section = ''] = `\n${readme}`.split(`\n## ${heading}\n`);
  const lines = (section.split(/^## /m)[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  const rows = lines.slice(2).map((line) => line.split('|').slice(1, -1));
  return inOrder(rows.map((cells) => cells.slice(0, columns).map((cell) => cell.trim())));
}

function inOrder(rows: readonly string[][]): string[][] {
  return rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
}

const quoted = (text: string) => `\`${text}\``;

async function metrics(): Promise<string[][]> {
  const registry = new Registry();
  leaseMetrics({ registry });
  const described = await registry.getMetricsAsJSON();
  return described.map(({ name, type }) => {
    const { labelNames } = registry.getSingleMetric(name) as unknown as { readonly labelNames: readonly string[] };
    return [quoted(name), String(type), labelNames.map(quoted).join(', ')];
  });
}

/** Every error that is thrown on purpose says its code in this way, and a class has no other way to say one. */
function errors(): string[][] {
  const sources = projectFiles(/^libs\/lease\/src\/.*\.ts$/).filter(({ path }) => !path.endsWith('.spec.ts'));
  const classes = sources.flatMap(({ text }) => text.split(/^(?=export (?:abstract )?class )/m));
  return classes.flatMap((source) => {
    const [, name = ''] = /^export class (\w+) extends \w+Error\b/.exec(source) ?? [];
    if (name === '') return [];
    const [, code = `no code in ${name}`] = /^ {2}readonly code(?:: string)? = '(\w+)'/m.exec(source) ?? [];
    return [[quoted(code), quoted(name)]];
  });
}

describe('the documentation of the leases', () => {
  it('lists every metric with its kind and its labels', async () => {
    expect(documented('Metrics', 3)).toEqual(inOrder(await metrics()));
  });

  it('lists every event with how loud it is in the log', () => {
    const events = Object.entries(LOG_LINES).map(([name, [level]]) => [quoted(name), level]);
    expect(documented('Events', 2)).toEqual(inOrder(events));
  });

  it('lists every error with its code and its class', () => {
    expect(errors().length).toBeGreaterThan(4);
    expect(documented('Errors', 2)).toEqual(inOrder(errors()));
  });
});
