import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../exclusive.mjs';

/** Where the models of an API group are; the core group and those of Kubernetes itself are in the first. */
const MODELS = {
  'keda.sh': '@kubernetes-models/keda/',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
};

/**
 * What the schemas of Kubernetes, KEDA and the Prometheus Operator object to, fields that they don't know included: an API
 * server drops those without a word.
 * @param {Record<string, any>[]} objects
 * @returns {Promise<string[]>} a sentence for each
 */
export async function againstSchemas(objects) {
  const failed = await Promise.all(objects.map(againstSchema));
  return [...failed.flat(), ...unknownFields(objects)];
}

function modelOf({ apiVersion, kind }) {
  const [group] = apiVersion.split('/');
  return `${MODELS[group] ?? 'kubernetes-models/'}${apiVersion}/${kind}`;
}

async function againstSchema(object) {
  const model = modelOf(object);
  const { [object.kind]: Model } = await import(model).catch(() => ({}));
  if (!Model) return [`${nameOf(object)}: there is no schema ${model}.`];
  try {
    new Model(object).validate();
    return [];
  } catch (error) {
    return [`${nameOf(object)}: ${error.message}`];
  }
}

/** The schemas allow any further field; the types made from them do not. */
function unknownFields(objects) {
  const file = join(root, 'ops/kubernetes/rendered.ts');
  const known = objects.filter((object) => ts.sys.fileExists(typesOf(object)));
  const text = known
    .map((object, n) => `import type { I${object.kind} as T${n} } from '${modelOf(object)}';\n`)
    .concat(known.map((object, n) => `export const o${n}: T${n} = ${JSON.stringify(object)};\n`))
    .join('');
  const options = { noEmit: true, strict: true, skipLibCheck: true, types: [], module: ts.ModuleKind.NodeNext };
  const plain = ts.createCompilerHost(options);
  const own = (path) => path === file;
  const host = {
    ...plain,
    fileExists: (path) => own(path) || plain.fileExists(path),
    getSourceFile: (path, language) =>
      own(path) ? ts.createSourceFile(path, text, language) : plain.getSourceFile(path, language),
  };
  const found = ts.getPreEmitDiagnostics(ts.createProgram([file], options, host));
  return found.map((one) => {
    const line = one.file && one.start !== undefined ? one.file.getLineAndCharacterOfPosition(one.start).line : 0;
    return `${nameOf(known[line - known.length] ?? {})}: ${ts.flattenDiagnosticMessageText(one.messageText, ' ')}`;
  });
}

function typesOf(object) {
  return join(root, 'node_modules', `${modelOf(object)}.d.ts`);
}

/** @param {Record<string, any>} object */
export function nameOf({ kind = 'object', metadata = {} }) {
  return `${kind} ${metadata.name ?? ''}`.trim();
}
