/**
 * References in the texts of a pipeline file: `${env:X}`, `${env:X:-default}`, `${file:/path}`, `${k8s:ns/name#key}`;
 * `$${` is a literal `${`. They are filled in after parsing, so a value can never change the file's structure.
 */
import type { ErrorCode } from '../model/errors.ts';

export type Reference =
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string }
  | {
      readonly kind: 'k8s';
      readonly namespace: string;
      readonly name: string;
      readonly key: string;
    };

export type Interpolated =
  | { readonly text: string; readonly hasReference: boolean }
  | { readonly code: ErrorCode; readonly problem: string };

const OPENING = /\$\$\{|\$\{/u;
const TOKEN = /\$\$\{|\$\{([^}]*)\}|\$\{/gu;
const ENV = /^env:([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/su;
const K8S = /^k8s:([a-z0-9][a-z0-9.-]*)\/([a-z0-9][a-z0-9.-]*)#(?!\.{1,2}$)([A-Za-z0-9._-]+)$/u;
const BARE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-?(.*))?$/su;

/** The text filled in, or what is wrong with it; null when it holds no `${` at all. */
export function interpolate(
  text: string,
  lookup: (reference: Reference) => string | null,
): Interpolated | null {
  if (!OPENING.test(text)) return null;
  let problem: { code: ErrorCode; problem: string } | null = null;
  let hasReference = false;
  const filled = text.replaceAll(TOKEN, (token, body: string | undefined) => {
    if (token === '$${') return '${';
    hasReference = true;
    const result = body === undefined ? unclosed() : resolve(body, lookup);
    if (typeof result === 'string') return result;
    problem ??= result;
    return '';
  });
  return problem ?? { text: filled, hasReference };
}

type Problem = { readonly code: ErrorCode; readonly problem: string };

const unclosed = (): Problem => ({
  code: 'E_CONFIG_VALUE',
  problem: 'a "${" is not closed with "}"; write "$${" for a literal one',
});

function resolve(body: string, lookup: (reference: Reference) => string | null): string | Problem {
  const env = ENV.exec(body);
  if (env !== null) {
    const value = lookup({ kind: 'env', name: env[1] ?? '' });
    // As in a shell, `:-` covers a variable that is set to nothing, too.
    const set = value === '' && env[2] !== undefined ? null : value;
    return set ?? env[2] ?? missing(`the variable ${env[1]} is not set`);
  }
  if (body.startsWith('file:') && body.length > 'file:'.length) {
    const path = body.slice('file:'.length);
    return lookup({ kind: 'file', path }) ?? missing(`the file of \${${body}} cannot be read`);
  }
  const k8s = K8S.exec(body);
  if (k8s !== null) {
    const [, namespace = '', name = '', key = ''] = k8s;
    return (
      lookup({ kind: 'k8s', namespace, name, key }) ??
      missing(`the secret of \${${body}} is not mounted`)
    );
  }
  return malformed(body);
}

const missing = (problem: string): Problem => ({ code: 'E_CONFIG_SECRET', problem });

/** A bare `${X}` or `${X:-default}` is another tool's way to write a variable. The default is not repeated. */
function malformed(body: string): Problem {
  const bare = BARE.exec(body);
  const problem =
    bare !== null && !['env', 'file', 'k8s'].includes(bare[1] ?? '')
      ? `\${${bare[1]}${bare[2] === undefined ? '' : '…'}} is not a reference: write \${env:${bare[1]}${bare[2] === undefined ? '' : ':-…'}} for the variable, or "$\${" for a literal "\${"`
      : 'not a reference: write ${env:NAME}, ${env:NAME:-default}, ${file:/path} or ${k8s:namespace/name#key}, or "$${" for a literal "${"';
  return { code: 'E_CONFIG_VALUE', problem };
}
