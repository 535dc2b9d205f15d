import { PipelineError } from '../model/errors.ts';
import { decimalOf, type ColumnType, type Encoding } from '../model/types.ts';
import { castBooleanWords, castText, completeCast, isBad, type Cast } from './casts.ts';
import { isInexactWhole } from './casts-inexact.ts';
import { castCents } from './casts-number.ts';
import { raw, sql, type Sql } from './sql.ts';

// A lambda's parameter; the engine's lambda cannot hide a column of the same name.
const PLAIN = raw('__lakeward_plain');

/** Names of `type_conversion`; what each makes is the type of its {@link Cast}. */
export type ConversionName =
  | 'to_string'
  | 'to_int'
  | 'to_float'
  | 'to_boolean'
  | 'epoch_ms_to_datetime'
  | 'cents_to_dollars';

/**
 * A landed text through a conversion. `source` and `from` are the type and the encoding of the source column, where
 * they are known; without them the text is what counts.
 *
 * @throws E_CONFIG_VALUE where the source's values cannot be what the conversion takes, such as bytes for a number
 */
export function convertText(
  text: Sql,
  conversion: ConversionName,
  source: ColumnType = 'string',
  from?: Encoding,
): Cast {
  if (conversion === 'to_string') return textOf(text, source, from);
  const isBytes = source === 'binary' || source.startsWith('fixed[');
  const isInDays = from === 'epoch_day' || from?.endsWith('_of_day') === true;
  if (isBytes || (isInDays && conversion === 'epoch_ms_to_datetime')) {
    throw new PipelineError(
      'E_CONFIG_VALUE',
      `${conversion} cannot take a ${source} column${from === undefined ? '' : ` read from ${from}`}.`,
    );
  }
  if (decimalOf(source) === null || from !== 'base64') return convertPlain(text, conversion, from);
  return chain(text, textOf(text, source, from), (plain) =>
    convertPlain(plain, conversion, undefined),
  );
}

function convertPlain(
  text: Sql,
  conversion: Exclude<ConversionName, 'to_string'>,
  from: Encoding | undefined,
): Cast {
  switch (conversion) {
    case 'to_int':
      return castText(text, 'long');
    case 'to_float':
      return castText(text, 'double');
    case 'to_boolean':
      return castBooleanWords(text);
    case 'epoch_ms_to_datetime':
      return castText(text, 'timestamptz', from?.startsWith('epoch_') === true ? from : 'epoch_ms');
    case 'cents_to_dollars': {
      const cast = completeCast(text, castCents(text), 'decimal(18,2)');
      return { ...cast, inexact: isInexactWhole(text, cast.value, 100) };
    }
  }
}

// The text of a typed value: its shortest form that reads back as the same value.
function textOf(text: Sql, source: ColumnType, from: Encoding | undefined): Cast {
  const cast = castText(text, source, from);
  const value = source === 'string' ? cast.value : valueText(text, cast);
  return { ...cast, value, bad: isBad(text, value), type: 'string' };
}

function valueText(text: Sql, cast: Cast): Sql {
  const plain = sql`CAST(${cast.value} AS VARCHAR)`;
  const decimal = decimalOf(cast.type);
  // The engine leaves out the zero before the point where there is no room for it.
  if (decimal !== null && decimal.precision === decimal.scale)
    return sql`regexp_replace(${plain}, '^(-?)[.]', '\\1' || '0.')`;
  switch (cast.type) {
    case 'float':
    case 'double':
      return sql`(CASE WHEN ${text} IN ('NaN') THEN 'NaN' WHEN ${text} IN ('Infinity', '+Infinity', 'inf') THEN 'Infinity'
        WHEN ${text} IN ('-Infinity', '-inf') THEN '-Infinity' ELSE ${plain} END)`;
    case 'timestamp':
      return sql`strftime(${cast.value}, '%Y-%m-%dT%H:%M:%S.%f')`;
    case 'timestamptz':
      return sql`strftime(make_timestamp(epoch_us(${cast.value})), '%Y-%m-%dT%H:%M:%S.%fZ')`;
    case 'binary':
      return sql`to_base64(${cast.value})`;
    default:
      return cast.type.startsWith('fixed[') ? sql`to_base64(${cast.value})` : plain;
  }
}

// A second cast over the text that a first one makes: bad where either is.
function chain(text: Sql, first: Cast, then: (plain: Sql) => Cast): Cast {
  const second = then(PLAIN);
  const value = over(first.value, second.value);
  const code = sql`CASE WHEN ${first.bad} THEN ${first.code} ELSE ${over(first.value, second.code)} END`;
  return { value, bad: isBad(text, value), code, inexact: first.inexact, type: second.type };
}

function over(plain: Sql, body: Sql): Sql {
  return sql`list_transform([${plain}], lambda ${PLAIN}: ${body})[1]`;
}
