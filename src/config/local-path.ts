/** Paths of a pipeline file: relative ones start at the file's folder, `file:` URIs are absolute. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ErrorCode } from '../model/errors.ts';

export type LocalPath =
  | { readonly path: string }
  | { readonly code: ErrorCode; readonly problem: string };

export function localPath(text: string, baseDir: string): LocalPath {
  if (/^file:/iu.test(text)) return fromUri(text);
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//iu.exec(text)?.[1];
  if (scheme !== undefined)
    return {
      code: 'E_CONFIG_UNSUPPORTED',
      problem: `${scheme}:// is not supported in this version; give a local path or a file: URI`,
    };
  return { path: resolve(baseDir, text) };
}

function fromUri(text: string): LocalPath {
  const wrong = {
    code: 'E_CONFIG_VALUE',
    problem: 'a file: URI is absolute and has no host, such as file:///data/feed',
  } as const;
  if (!/^file:\/(\/\/)?[^/]/iu.test(text)) return wrong;
  try {
    const uri = new URL(text);
    // "?" and "#" would cut the path; in a glob "?" is meant as itself.
    if (uri.search !== '' || uri.hash !== '' || /[?#]/u.test(text))
      return { ...wrong, problem: 'a file: URI cannot hold "?" or "#"; give a plain path' };
    return { path: fileURLToPath(uri) };
  } catch {
    return wrong; // not a URI at all: the user sees the same advice
  }
}
