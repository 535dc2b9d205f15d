/**
 * Names on the lake. A mapped table is called by its object type in snake_case, a mirrored table by its own name;
 * both stand in the namespace of the sink, or in one named by the first half of the source table.
 */

export interface TargetName {
  readonly namespace: string;
  readonly table: string;
}

/** The last dotted segment: `ri.type.PumpStation` → `PumpStation`. Also what `{object_type}` stands for. */
export function objectTypeOf(objectTypeRid: string): string {
  return objectTypeRid.slice(objectTypeRid.lastIndexOf('.') + 1);
}

/**
 * `PumpStation` → `pump_station`, `HTTPPump2` → `http_pump2`. A word begins at a capital that follows a small letter
 * or a digit, and at the last capital of a run before a small letter; digits belong to the word before them; all that
 * is neither letter, mark nor digit separates words.
 */
export function snakeCase(name: string): string {
  return name
    .replaceAll(/([\p{Ll}\p{Lo}\p{N}])(\p{Lu})/gu, '$1_$2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/gu, '')
    .toLowerCase();
}

/** `shop.orders` → `shop`; a name without a dot has no first half. */
export function firstHalf(sourceTable: string): string {
  const dot = sourceTable.indexOf('.');
  return dot === -1 ? '' : sourceTable.slice(0, dot);
}

/** Where a mapped table goes. `namespace` is that of the sink, if it has one. */
export function mappedTarget(
  mapping: { readonly target_object_type_rid: string; readonly target_table?: string | undefined },
  sourceTable: string,
  namespace?: string,
): TargetName {
  const named = mapping.target_table ?? snakeCase(objectTypeOf(mapping.target_object_type_rid));
  const dot = named.indexOf('.');
  if (dot !== -1) return { namespace: named.slice(0, dot), table: named.slice(dot + 1) };
  return { namespace: namespace ?? firstHalf(sourceTable), table: named };
}
