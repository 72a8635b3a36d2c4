/** A value as YAML on one line, also inside braces; quoted only where necessary. */
export function writeScalar(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeScalar).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([key, of]) => `${writeScalar(key)}: ${writeScalar(of)}`);
    return `{ ${pairs.join(', ')} }`;
  }
  if (typeof value !== 'string') return String(value);
  return PLAIN.test(value) && !OTHER_TYPES.test(value) ? value : writeQuoted(value);
}

/** An item of a list on lines of its own. */
export function itemLines(item: unknown, indent: number): string[] {
  const isMap = typeof item === 'object' && item !== null && !Array.isArray(item);
  const written = isMap ? pairsOf(item) : [writeScalar(item)];
  return written.map((line, index) => `${' '.repeat(indent)}${index === 0 ? '-' : ' '} ${line}`);
}

function pairsOf(item: object): string[] {
  return Object.entries(item).map(([key, value]) => `${writeScalar(key)}: ${writeScalar(value)}`);
}

const PLAIN = /^[A-Za-z./~$][\w./~$:@?=&%+-]*(?<!:)$/;
const OTHER_TYPES = /^(?:true|false|null|~|\.inf|\.nan|\.\d.*)$/i;

export function writeQuoted(value: string): string {
  return JSON.stringify(value).replace(
    /[\x7F-\x9F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
