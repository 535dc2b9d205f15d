import type { Column } from '../model/types.ts';
export function readEnvelopeSchema(_text: string): { columns: readonly Column[] } | null { return null; }
