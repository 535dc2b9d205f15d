import type { Problem } from '../../config/config-error.ts';
import { isPipelineError, type PipelineError } from '../../model/errors.ts';
import { EXIT, exitCodeOf, type ExitCode } from '../exit-code.ts';
import { errorReport, fail, isConfigError } from '../fail.ts';
import { jsonText } from '../json-text.ts';
import type { Terminal } from '../terminal.ts';
import { count } from '../words.ts';

type Verdict =
  | {
      readonly file: string;
      readonly valid: true;
      readonly pipeline_id: string;
      readonly notices: readonly string[];
    }
  | {
      readonly file: string;
      readonly valid: false;
      readonly problems: readonly (Problem | object)[];
      readonly error: PipelineError;
    };

/** `lakeward validate`: checks pipeline files and touches nothing else. */
export async function validateCommand(
  paths: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  const verdicts: Verdict[] = [];
  for (const path of paths) verdicts.push(await judge(path));
  if (terminal.output === 'table') for (const verdict of verdicts) await tell(verdict, terminal);
  else await terminal.write(jsonOf(verdicts, terminal));
  const codes = verdicts.map((verdict) => (verdict.valid ? EXIT.ok : exitCodeOf(verdict.error)));
  return codes.find((code) => code !== EXIT.ok) ?? EXIT.ok;
}

async function judge(file: string): Promise<Verdict> {
  const { loadPipeline } = await import('../../config/load.ts');
  try {
    const { spec, notices } = await loadPipeline(file);
    return {
      file,
      valid: true,
      pipeline_id: spec.pipeline_id,
      notices: notices.map(({ message }) => message),
    };
  } catch (error) {
    if (!isPipelineError(error)) throw error;
    return {
      file,
      valid: false,
      problems: isConfigError(error) ? error.problems : [errorReport(error)],
      error,
    };
  }
}

async function tell(verdict: Verdict, terminal: Terminal): Promise<void> {
  if (!verdict.valid) return void (await fail(verdict.error, terminal));
  const notes = verdict.notices.length === 0 ? '' : `, ${count(verdict.notices.length, 'note')}`;
  await terminal.write(
    `${terminal.paint.green('✔')} ${verdict.file}: pipeline ${verdict.pipeline_id} is valid${notes}\n`,
  );
  for (const notice of verdict.notices)
    terminal.say(`  ${terminal.errorPaint.yellow('note')}  ${notice}`);
}

function jsonOf(verdicts: readonly Verdict[], { output }: Terminal): string {
  const plain = verdicts.map((verdict) =>
    verdict.valid ? verdict : { ...verdict, error: undefined },
  );
  if (output === 'ndjson') return plain.map((verdict) => `${jsonText(verdict)}\n`).join('');
  return `${jsonText(plain, { indent: 2 })}\n`;
}
