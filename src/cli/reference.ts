/** The page `docs/reference/cli.md`, made from the commands themselves. */
import type { Argument, Command, Option } from 'commander';
import { EXIT_MEANINGS } from './exit-code.ts';
import { buildProgram } from './program.ts';
import { examplesOf } from './tree/does.ts';

/** @param note first line of every generated page */
export function cliPage(note: string): string {
  const { command } = buildProgram(() => undefined);
  const commands = command.commands.flatMap((child) =>
    child.commands.length === 0 ? [child] : [...child.commands],
  );
  return [note, introduction(command), ...commands.map(section)].join('\n');
}

function introduction(program: Command): string {
  const codes = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return `# Command line

\`\`\`
${program.name()} <command> [options]
\`\`\`

stdout holds data only; everything for people goes to stderr. Nothing asks a question unless a terminal is there to
answer it. A reader that goes away (\`| head\`) ends a command quietly.

With \`-o json\`, stdout holds one JSON value (with \`ndjson\`, one a line), and an error is one JSON object on stderr:
\`{code, kind, message, subject, advice}\`. \`csv\` is for the lists. Longs are numbers in full digits, decimals strings,
instants ISO 8601 with \`Z\` and microseconds, bytes base64. Errors: [errors](errors.md), or \`lakeward errors CODE\`.

These options may stand anywhere:

${optionTable(program.options)}
| exit code | meaning |
|---|---|
${codes.join('\n')}
`;
}

function section(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
  const name = names.join(' ');
  const args =
    command.registeredArguments.length === 0
      ? ''
      : `\n${argumentTable(command.registeredArguments)}`;
  const options = command.options.length === 0 ? '' : `\n${optionTable(command.options)}`;
  const examples = examplesOf(command);
  const shown = examples.length === 0 ? '' : `\n\`\`\`sh\n${examples.join('\n')}\n\`\`\`\n`;
  return `## \`${name}\`

\`${name} ${command.usage()}\`

${command.description()}
${args}${options}${shown}`;
}

function argumentTable(list: readonly Argument[]): string {
  const rows = list.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return `| \`${argument.required ? `<${name}>` : `[${name}]`}\` | ${cell(argument.description)}${defaultText(argument.defaultValue)} |`;
  });
  return `| argument | meaning |\n|---|---|\n${rows.join('\n')}\n`;
}

function optionTable(list: readonly Option[]): string {
  const rows = list.map((option) => {
    const choices =
      option.argChoices === undefined
        ? ''
        : `: ${option.argChoices.map((choice) => `\`${choice}\``).join(', ')}`;
    const preset = option.negate ? '' : defaultText(option.defaultValue);
    return `| \`${option.flags}\` | ${cell(option.description)}${choices}${preset} |`;
  });
  return `| option | meaning |\n|---|---|\n${rows.join('\n')}\n`;
}

/** Defaults are texts, or lists of texts. */
function defaultText(value: unknown): string {
  const text = Array.isArray(value) ? value.join(' ') : value;
  return typeof text === 'string' ? ` (default \`${text}\`)` : '';
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`);
