/** The ways in: a pipeline file, or the same as an object. Both end in one checked `PipelineSpec`. */
import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { PipelineError } from '../model/errors.ts';
import type { PipelineSpec } from '../model/spec.ts';
import type { Problem } from './config-error.ts';
import { ConfigError, problemOf } from './config-error.ts';
import { checkTree } from './check-tree.ts';
import type { Notice } from './notices.ts';
import type { Finding } from './node-tree.ts';
import type { FileSource } from './locate.ts';
import type { Lookup } from './prepare.ts';
import { readObject } from './read-object.ts';
import type { PipelineFile } from './schema.ts';
import { pipelineSchema } from './schema.ts';

export type { PipelineFile } from './schema.ts';

export interface LoadedPipeline {
  readonly spec: PipelineSpec;
  /** What was accepted and has no effect, for the user to read once. */
  readonly notices: readonly Notice[];
}

export interface Environment {
  readonly [name: string]: string | undefined;
}

/** Far above any pipeline; a feed given by mistake ends here. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
const SECRET_BYTES_MAX = 64 * 1024;

/** Where `${k8s:ns/name#key}` looks for `ns/name/key`, unless `LAKEWARD_K8S_SECRETS` names another folder. */
const K8S_SECRETS = '/var/run/secrets/lakeward';

/**
 * Reads and checks a pipeline file, YAML or JSON. Relative paths in it start at its folder.
 * @throws ConfigError (all problems in the file's order), PipelineError E_CONFIG_FILE
 */
export async function loadPipeline(
  path: string,
  { env = process.env }: { readonly env?: Environment } = {},
): Promise<LoadedPipeline> {
  const text = decode(await readBytes(path), path);
  const baseDir = dirname(resolve(path));
  const { readDocument } = await import('./read-document.ts');
  const { tree, findings } = readDocument(text);
  const source = { file: path, text, schema: pipelineSchema };
  // A tree with a fault in its text may lack what was read twice, and so not know what to mask.
  if (tree === null || findings.length > 0) return refuse(findings, { ...source, tree: null });
  const checked = checkTree(tree, baseDir, lookupIn(env, baseDir));
  return 'spec' in checked ? checked : refuse(checked.findings, { ...source, tree });
}

async function refuse(findings: readonly Finding[], source: FileSource): Promise<never> {
  const { locate } = await import('./locate.ts');
  throw configError(locate(findings, source));
}

/**
 * The same for an object with the keys of a pipeline file. Relative paths start at `baseDir`, by default the current
 * folder.
 * @throws ConfigError with paths, but no lines
 */
export function resolvePipeline(
  file: PipelineFile,
  {
    baseDir = process.cwd(),
    env = process.env,
  }: { readonly baseDir?: string; readonly env?: Environment } = {},
): LoadedPipeline {
  const { tree, findings } = readObject(file);
  if (findings.length > 0) throw configError(findings.map(problemOf));
  const checked = checkTree(tree, resolve(baseDir), lookupIn(env, resolve(baseDir)));
  if ('spec' in checked) return checked;
  throw configError(checked.findings.map(problemOf));
}

function configError(problems: readonly Problem[]): ConfigError {
  const [first, ...others] = problems;
  if (first === undefined)
    throw new PipelineError('E_BUG', 'a pipeline was refused without a reason');
  return new ConfigError([first, ...others]);
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size <= FILE_BYTES_MAX) return await readFile(path);
  } catch (error) {
    throw new PipelineError('E_CONFIG_FILE', `${path} cannot be read: ${reasonOf(error)}`, {
      subject: { file: path },
      cause: error,
    });
  }
  throw new PipelineError('E_CONFIG_FILE', `${path} is too large to be a pipeline file (8 MiB)`, {
    subject: { file: path },
  });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  ENOTDIR: 'a part of its path is not a folder',
};

function reasonOf(error: unknown): string {
  const code = (error as { readonly code?: string }).code ?? 'unknown';
  return REASONS[code] ?? code;
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const message = 'the file is not valid UTF-8'; // the decoder does not say where
    throw configError([{ code: 'E_CONFIG_SYNTAX', path: '', message, file: path }]);
  }
}

function lookupIn(env: Environment, baseDir: string): Lookup {
  return (reference) => {
    switch (reference.kind) {
      case 'env':
        return env[reference.name] ?? null;
      case 'file':
        return readSecret(resolve(baseDir, reference.path));
      case 'k8s': {
        const root = env['LAKEWARD_K8S_SECRETS'] ?? K8S_SECRETS;
        return readSecret(join(root, reference.namespace, reference.name, reference.key));
      }
    }
  };
}

/** One newline at the end is the editor's, not the secret's. */
function readSecret(path: string): string | null {
  try {
    const bytes = readFileSync(path);
    return bytes.length > SECRET_BYTES_MAX ? null : bytes.toString('utf8').replace(/\r?\n$/u, '');
  } catch {
    return null; // the caller reports the reference; why it failed may hold the path only
  }
}
