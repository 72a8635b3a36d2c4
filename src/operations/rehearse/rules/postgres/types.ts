const ALIASES: Record<string, string> = {
  int: 'integer',
  int4: 'integer',
  int8: 'bigint',
  int2: 'smallint',
  bool: 'boolean',
  float8: 'double precision',
  float4: 'real',
  decimal: 'numeric',
  varchar: 'character varying',
  char: 'character',
  varbit: 'bit varying',
  timestamptz: 'timestamp with time zone',
  timestamp: 'timestamp without time zone',
  timetz: 'time with time zone',
  time: 'time without time zone',
};

interface Type {
  name: string;
  sizes: number[];
}

const KNOWN = new Set([
  ...Object.values(ALIASES),
  ...['text', 'json', 'jsonb', 'xml', 'uuid', 'date', 'interval', 'bytea', 'inet', 'cidr', 'oid', 'money', 'bit'],
]);

/** Types of the same bytes. https://www.postgresql.org/docs/current/sql-createcast.html (binary coercible) */
const SAME_BYTES = new Set([
  'cidr inet',
  'xml text',
  'character varying text',
  'text character varying',
  'integer oid',
  'oid integer',
]);

export function normalType(type: string): string {
  const { name, sizes } = typeOf(type);
  return sizes.length === 0 ? name : `${name}(${sizes.join(',')})`;
}

/** Reports whether the change of a type writes the table anew; `null` where the types do not tell. */
export function rewrites(from: string, to: string): boolean | null {
  const [before, after] = [typeOf(from), typeOf(to)];
  if (before.name === after.name) return sizesRewrite(before, after);
  if (!KNOWN.has(before.name) || !KNOWN.has(after.name)) return null;
  if (SAME_BYTES.has(`${before.name} ${after.name}`)) return after.sizes.length > 0;
  // Without conversion under a time zone of UTC.
  if (before.name.startsWith('timestamp ') && after.name.startsWith('timestamp ')) return null;
  return true;
}

function sizesRewrite(before: Type, after: Type): boolean | null {
  const [size, scale = 0] = after.sizes;
  const [oldSize, oldScale = 0] = before.sizes;
  if (size === oldSize && scale === oldScale) return KNOWN.has(before.name) ? false : null;
  if (before.name === 'character' || before.name === 'bit') return true;
  if (size === undefined) return false;
  if (before.name === 'numeric') return oldSize === undefined || size < oldSize || scale !== oldScale;
  // Without a size, a timestamp has 6 digits, and a text any length.
  const whole = before.name.startsWith('time') ? 6 : Number.POSITIVE_INFINITY;
  return size < (oldSize ?? whole);
}

/** `timestamp(3) with time zone` has its size inside. */
function typeOf(type: string): Type {
  const text = type.toLowerCase().replace(/^pg_catalog\./, '');
  const sizes = (/\(([\d, ]*)\)/.exec(text)?.[1] ?? '')
    .split(',')
    .flatMap((size) => (size.trim() ? [Number(size)] : []));
  const name = text
    .replace(/\s*\([\d, ]*\)/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const known = ALIASES[name] ?? name;
  const isOfOne = known === 'character' && sizes.length === 0;
  return { name: known, sizes: isOfOne ? [1] : sizes };
}

const VOLATILE = /\b(?:random|gen_random_uuid|uuid_generate_v\w+|uuidv[47]|clock_timestamp|timeofday|nextval|setval)\(/;
const NOT_VOLATILE =
  /\b(?:now|current_\w+|transaction_timestamp|statement_timestamp|lower|upper|md5|coalesce|make_date)\(/g;
const CALLS = /[\w"]\(/;

/** Reports whether a default differs from row to row; `null` where a function is not known. */
export function isVolatile(expression: string): boolean | null {
  if (VOLATILE.test(expression)) return true;
  const rest = expression.replaceAll(NOT_VOLATILE, '').replaceAll(/::\s*[\w ]+\([\d,]*\)/g, '');
  return CALLS.test(rest) ? null : false;
}
