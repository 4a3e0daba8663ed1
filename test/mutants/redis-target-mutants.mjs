const REDIS = 'libs/lease/src/redis/';
const ENVIRONMENT = `${REDIS}redis-environment.ts`;
const ENVIRONMENT_SPEC = `${REDIS}redis-environment.spec.ts`;
const OPTION = `${REDIS}redis-option.ts`;
const OPTION_SPEC = `${REDIS}redis-option.spec.ts`;
const COPY = 'libs/jobs/src/nest/redis-copy.ts';
const COPY_SPEC = 'test/jobs/redis-copy.spec.ts';
const OPTIONS_SPEC = 'libs/jobs/src/nest/options.spec.ts';

/**
 * Where a Redis may be: one server, what sentinels watch, a cluster; and the connections that are made beside the first one.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const REDIS_TARGET_MUTANTS = [
  {
    name: 'environment: two places of Redis at once',
    defence: 'pods that were told of two Redis do not start on one of them by chance',
    file: ENVIRONMENT,
    find: 'if (places.length > 1) {',
    replace: 'if (places.length > 3) {',
    killedBy: ENVIRONMENT_SPEC,
    test: 'is refused with a sentence',
  },
  {
    name: 'environment: an empty variable says something',
    defence: 'a compose file leaves a variable out by giving it nothing',
    file: ENVIRONMENT,
    find: 'variables[name] || undefined',
    replace: 'variables[name] ?? undefined',
    killedBy: ENVIRONMENT_SPEC,
    test: 'an empty variable says nothing',
  },
  {
    name: 'environment: nodes of a cluster are taken as they come',
    defence: 'an address that is none is refused at the start, by the name of its variable',
    file: ENVIRONMENT,
    find: 'if (isRedisUrl(url)) return url;',
    replace: "if (url !== '') return url;",
    killedBy: ENVIRONMENT_SPEC,
    test: 'is refused with a sentence',
  },
  {
    name: 'environment: a message shows the password of a sentinel',
    defence: 'no message shows a password',
    file: ENVIRONMENT,
    find: 'separated by commas, got "${redactUrl(text)}".`',
    replace: 'separated by commas, got "${text}".`',
    killedBy: ENVIRONMENT_SPEC,
    test: 'is refused with a sentence',
  },
  {
    name: 'option: sentinels of any shape',
    defence: 'an option that could not work is refused before anything is dialled',
    file: OPTION,
    find: "Array.isArray(sentinels) && sentinels.every(isHostAndPort) && typeof name === 'string'",
    replace: "sentinels !== undefined && isHostAndPort !== undefined && typeof name === 'string'",
    killedBy: OPTION_SPEC,
    test: 'is not',
  },
  {
    name: 'option: sentinels and a cluster at once',
    defence: 'an option that names two places is refused',
    file: OPTION,
    find: 'if (Object.keys(value).length !== 1) return false;',
    replace: 'if (Object.keys(value).length < 1) return false;',
    killedBy: OPTION_SPEC,
    test: 'is not',
  },
  {
    name: 'option: what was given is shown whole',
    defence: 'no message shows a password',
    file: OPTION,
    find: "'an object';",
    replace: 'JSON.stringify(value);',
    killedBy: OPTIONS_SPEC,
    test: 'are refused with a sentence',
  },
  {
    name: 'copy: stays with a server that fell silent',
    defence: 'a connection leaves a primary that vanished, and finds the next one',
    file: COPY,
    find: 'redis.duplicate({ ...over, socketTimeout })',
    replace: 'redis.duplicate({ ...over, ...(socketTimeout < 0 && { socketTimeout }) })',
    killedBy: COPY_SPEC,
    test: 'is made anew when it fell silent',
  },
  {
    name: 'copy: a worker stays with a server that fell silent',
    defence: 'a worker leaves a primary that vanished, and what it asked is asked of the next one',
    file: COPY,
    find: '{ ...over, socketTimeout: WORKER_PATIENCE_MS }',
    replace: '{ ...over, keepAlive: WORKER_PATIENCE_MS }',
    killedBy: COPY_SPEC,
    test: 'asks for a worker again',
  },
  {
    name: 'copy: a worker that waits for jobs is taken for one that hears nothing',
    defence: 'a fetch from an empty queue is no silence',
    file: COPY,
    find: 'duplicate({ socketTimeout: FETCH_MS, ...override })',
    replace: 'duplicate(override)',
    killedBy: COPY_SPEC,
    test: 'lets a worker wait for jobs in silence',
  },
  {
    name: 'copy: that of a cluster has the time limit of the first one',
    defence: 'a fetch on a cluster is not cut off after the time that a lease command may take',
    file: `${REDIS}redis-clients.ts`,
    find: 'over.commandTimeout ?? this.limitMs',
    replace: 'over === null ? 0 : this.limitMs',
    killedBy: COPY_SPEC,
    test: 'has options of its own for the nodes',
  },
  {
    name: 'cli: looks for tenants on one node of a cluster',
    defence: 'no deployment is overlooked, and none taken for the only one',
    file: 'apps/cli/src/store/redis-tenants.ts',
    find: "redis.nodes('master')",
    replace: "redis.nodes('master').slice(0, 1)",
    killedBy: 'test/jobs/fencepost-cluster.spec.ts',
    test: 'finds the tenants of all nodes',
  },
];
