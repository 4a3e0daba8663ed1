import type { MetricsRegistry } from '@fencepost/lease/metrics';
import type { Metric, MetricObject, MetricValue } from 'prom-client';

interface Read {
  readonly values: readonly MetricValue<string>[];
}

type Reader = () => Promise<MetricObject & Read>;

/**
 * The same registry, in which each metric that is registered from now on has the label `deployment`. Others in it stay as they are:
 * it may be that of an application.
 */
export function ofDeployment<Of extends MetricsRegistry>(registry: Of, deployment: string): Of {
  const registerMetric = (metric: Metric) => registry.registerMetric(labelled(metric, { deployment }));
  return Object.create(registry, { registerMetric: { value: registerMetric } }) as Of;
}

/** With further labels whenever it is read: for the program that counts, it has none of them. */
function labelled(metric: Metric, labels: Readonly<Record<string, string>>): Metric {
  for (const name of ['get', 'getForPromString']) {
    const read: unknown = Reflect.get(metric, name);
    if (typeof read !== 'function') continue;
    const reader = read.bind(metric) as Reader;
    Reflect.set(metric, name, async () => {
      const found = await reader();
      return { ...found, values: found.values.map((one) => ({ ...one, labels: { ...labels, ...one.labels } })) };
    });
  }
  return metric;
}
