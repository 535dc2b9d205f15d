/** Numbers, sizes, times and paths as people read them; always the same, whatever the locale. */
import { relative } from 'node:path';

/** `9,007,199.25`: every digit that the value has. (The locale's own format cuts fractions, and takes 12 ms to load.) */
export function number(value: number | bigint): string {
  const [whole = '', ...rest] = String(value).split('.');
  return [whole.replace(/\B(?=(?:\d{3})+$)/gu, ','), ...rest].join('.');
}

/** `1 row`, `2,000 rows`. */
export function count(value: number | bigint, noun: string): string {
  return `${number(value)} ${noun}${Number(value) === 1 ? '' : 's'}`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Decimal units, three digits: `999 B`, `1.25 MB`. */
export function bytes(value: number): string {
  let scaled = value;
  let unit = 0;
  while (scaled >= 999.5 && unit < UNITS.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
  return `${scaled.toFixed(digits)} ${UNITS[unit]}`;
}

/** `0.42 s`, `12.3 s`, `2 min 05 s`. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [
    Math.floor(whole / 3600),
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  const two = (part: number): string => String(part).padStart(2, '0');
  return hours > 0 ? `${hours} h ${two(minutes)} min` : `${minutes} min ${two(rest)} s`;
}

/** Two leading digits are exact enough for a rate. */
export function rate(amount: number, ms: number): number {
  return ms <= 0 ? 0 : Math.round((amount * 1000) / ms);
}

/** How the command is called here: `npx lakeward` where npm started it, since then it may not be on the path. */
export function callName(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return env['npm_command'] === undefined ? 'lakeward' : 'npx lakeward';
}

/** A word of a shell's command line. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A path as one would type it here: relative, unless that climbs out of the working directory. */
export function shownPath(path: string): string {
  const short = relative('.', path);
  return short === '' || short.startsWith('..') ? path : short;
}

export const indented = (text: string, margin = '  '): string =>
  text.replaceAll(/^(?=.)/gmu, margin);
