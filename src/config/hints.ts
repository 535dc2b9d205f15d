/** What the schema's own words cannot say about a key, for messages and for the reference page. */
import { z } from 'zod';

export interface Hint {
  /** The default in words, where it depends on other keys. */
  readonly defaultText?: string;
  /** In words, where the schema would say no more than "text": `expected …`. */
  readonly expects?: string;
  /** A column type, with suggestions of its own. */
  readonly typeWord?: boolean;
  /** Its value is never shown. */
  readonly secret?: boolean;
  /** Part of the model, but without use for the source types of this version. */
  readonly unused?: boolean;
  /** Kept out of the reference page: another spelling of a key, or one that is always refused. */
  readonly hidden?: boolean;
}

export const hints = z.registry<Hint>();

/** A name that may not be empty. */
export const name = (): z.ZodString => z.string().min(1);

/** Timers count in 32 bits: a longer delay would fire at once. */
const LONGEST_DELAY_MS = 2_147_483_647;

export const delayMs = (): z.ZodInt => z.int().min(0).max(LONGEST_DELAY_MS);
