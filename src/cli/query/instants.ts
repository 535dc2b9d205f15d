/** Days and microseconds since 1970 as ISO 8601; the engine's years reach further than JavaScript's dates. */

const DAY_MICROS = 86_400_000_000n;

interface Finite {
  readonly isFinite: boolean;
}

/** `YYYY-MM-DDTHH:MM:SS.ffffff` and the zone; six digits always. Infinite ones are `infinity` and `-infinity`. */
export function instantText({ isFinite }: Finite, micros: bigint, zone: '' | 'Z'): string {
  if (!isFinite) return infinityText(micros > 0n);
  const days = micros >= 0n ? micros / DAY_MICROS : -((-micros + DAY_MICROS - 1n) / DAY_MICROS);
  return `${dayText(Number(days))}T${timeText(micros - days * DAY_MICROS)}${zone}`;
}

export function dateText({ isFinite, days }: Finite & { readonly days: number }): string {
  return isFinite ? dayText(days) : infinityText(days > 0);
}

/** `HH:MM:SS.ffffff` of the microseconds of a day; six digits always. */
export function timeText(micros: bigint): string {
  const seconds = Number(micros / 1_000_000n);
  const two = (part: number): string => String(part).padStart(2, '0');
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map(two)
    .join(':');
  return `${clock}.${String(micros % 1_000_000n).padStart(6, '0')}`;
}

const infinityText = (isPositive: boolean): string => (isPositive ? 'infinity' : '-infinity');

/**
 * Proleptic Gregorian, by eras of 400 years counted from 1 March of year 0, so that the leap day ends its year. Years
 * beyond 0000 to 9999 carry a sign and six digits, as ISO 8601 has them.
 */
function dayText(days: number): string {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${yearText(year)}-${two(month)}-${two(day)}`;
}

function yearText(year: number): string {
  if (year >= 0 && year <= 9999) return String(year).padStart(4, '0');
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`;
}
