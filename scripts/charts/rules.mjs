import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../exclusive.mjs';
import { nameOf } from './schemas.mjs';

/** Left over when everything has been closed in time. */
const SPARE_MS = 5_000;

/**
 * @typedef {object} Facts what the code says
 * @property {(drainDeadline: string | undefined) => number} stopsWithinMs a pod is gone this long after SIGTERM
 * @property {ReadonlySet<string>} variables that a pod reads
 * @property {ReadonlySet<string>} metrics that a pod serves
 */

function read(file) {
  return readFileSync(join(root, file), 'utf8');
}

/**
 * The variables that the pods read, from the two files that read them.
 * @returns {Set<string>}
 */
export function podVariables() {
  const own = [...read('libs/pod/src/environment.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name = '']) => name);
  const redis = read('libs/lease/src/redis/redis-environment.ts').match(/\bREDIS_[A-Z_]+\b/g) ?? [];
  return new Set([...own, ...redis]);
}

/** @param {Record<string, any>[]} objects */
export function podsOf(objects) {
  return objects.filter(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.labels?.['app.kubernetes.io/name'] === 'fencepost',
  );
}

/** The variables that a Deployment sets, those from a secret or from the pod by the name of their source. */
export function environmentOf(deployment) {
  const [{ env = [] }] = deployment.spec.template.spec.containers;
  return Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, value ?? sourceOf(valueFrom)]));
}

function sourceOf({ secretKeyRef, fieldRef }) {
  return secretKeyRef ? `secret:${secretKeyRef.key}` : `field:${fieldRef.fieldPath}`;
}

/** Each path that a probe or Prometheus asks for, and whether it needs a token. */
export function askedOf(objects) {
  const probes = podsOf(objects).flatMap((deployment) => {
    const [container] = deployment.spec.template.spec.containers;
    return ['startupProbe', 'livenessProbe', 'readinessProbe'].map((kind) => ({
      by: `${kind} of ${nameOf(deployment)}`,
      path: container[kind]?.httpGet?.path ?? '',
      port: container[kind]?.httpGet?.port,
      ports: container.ports,
      authorized: false,
    }));
  });
  const monitors = objects.filter(({ kind }) => kind === 'ServiceMonitor').flatMap(({ spec }) => spec.endpoints);
  return [...probes, ...monitors.map(({ path, port }) => ({ by: 'ServiceMonitor', path, port, authorized: true }))];
}

/**
 * What is wrong with rendered manifests although every schema allows it.
 * @param {Record<string, any>[]} objects
 * @param {Facts} facts
 * @returns {string[]} a sentence for each
 */
export function againstRules(objects, facts) {
  const pods = podsOf(objects);
  const everyPod = pods.flatMap((pod) => [...hardening(pod), ...grace(pod, facts), ...variables(pod, facts)]);
  return [...everyPod, ...ports(objects), ...budgets(objects, pods), ...queries(objects, facts)];
}

function hardening(pod) {
  const { securityContext = {}, automountServiceAccountToken, containers } = pod.spec.template.spec;
  const [container] = containers;
  const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = container.securityContext ?? {};
  const checks = {
    'runs as root': securityContext.runAsNonRoot === true && securityContext.runAsUser > 0,
    'may write to its root file system': readOnlyRootFilesystem === true,
    'may gain privileges': allowPrivilegeEscalation === false && capabilities?.drop?.includes('ALL'),
    'has a token of the cluster': automountServiceAccountToken === false,
    'has no limit of memory': container.resources?.limits?.memory !== undefined,
    // Kubernetes would ask a registry for the latest at each start.
    'has an image without a tag': /:[^/]+$/.test(container.image),
  };
  return Object.entries(checks).flatMap(([wrong, well]) => (well ? [] : [`${nameOf(pod)} ${wrong}.`]));
}

function grace(pod, { stopsWithinMs }) {
  const given = pod.spec.template.spec.terminationGracePeriodSeconds;
  const needed = (stopsWithinMs(environmentOf(pod).FENCEPOST_DRAIN_DEADLINE) + SPARE_MS) / 1_000;
  if (given === needed) return [];
  return [
    `${nameOf(pod)} has ${given} s to stop, and its drain deadline needs terminationGracePeriodSeconds: ${needed}.`,
  ];
}

function variables(pod, { variables: known }) {
  const unknown = Object.keys(environmentOf(pod)).filter((name) => !known.has(name));
  return unknown.map((name) => `${nameOf(pod)} sets ${name}, which no pod reads.`);
}

/** Probes ask ports that the container names, and services and monitors lead to one. */
function ports(objects) {
  const probes = askedOf(objects).filter(({ ports: own, port }) => own && !own.some(({ name }) => name === port));
  return probes.map(({ by, port }) => `The ${by} asks port ${port}, which the container does not name.`);
}

function budgets(objects, pods) {
  const covered = (pod) =>
    objects.some(
      ({ kind, spec }) =>
        kind === 'PodDisruptionBudget' &&
        Object.entries(spec.selector.matchLabels).every(
          ([label, value]) => pod.spec.template.metadata.labels[label] === value,
        ),
    );
  return pods.filter((pod) => !covered(pod)).map((pod) => `${nameOf(pod)} has no PodDisruptionBudget.`);
}

/** What an autoscaler asks for is a metric that is served. */
function queries(objects, { metrics }) {
  const scaled = objects.filter(({ kind }) => kind === 'ScaledObject').flatMap(({ spec }) => spec.triggers);
  const asked = scaled.flatMap(({ metadata }) => metadata.query.match(/\bfencepost_\w+/g) ?? ['no metric']);
  return asked
    .filter((name) => !metrics.has(name))
    .map((name) => `The autoscaler asks for ${name}, which no pod serves.`);
}
